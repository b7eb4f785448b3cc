import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectFolder } from "../../../scripts/project.ts";

type Step = {
  readonly id: string;
  readonly description: string;
  readonly media: { readonly markdown: string };
  readonly completionEvents: readonly string[];
};

const { contributes }: Manifest = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));

type Manifest = {
  readonly contributes: {
    readonly walkthroughs: readonly { readonly steps: readonly Step[] }[];
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string }[];
  };
};

const steps = contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);
const textOf = ({ media }: Step): string => readFileSync(join(projectFolder, media.markdown), "utf8");

test.each(steps)("step $id of the walkthrough has a page, and its links and events name our commands", (step) => {
  expect(existsSync(join(projectFolder, step.media.markdown))).toBe(true);
  const ids = contributes.commands.map(({ command }) => command);
  const named =
    `${step.description} ${step.completionEvents.join(" ")}`.match(/(?<=command:|onCommand:)hermes\.\w+/gi) ?? [];
  expect(named.filter((id) => !ids.includes(id))).toEqual([]);
});

test("the walkthrough shows every default key", () => {
  const keys = textOf(steps.find(({ id }) => id === "keys") as Step).toLowerCase();
  for (const { key } of contributes.keybindings) expect(keys).toContain(`\`${key}\``);
});
