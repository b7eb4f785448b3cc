import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectFolder } from "../../../scripts/project.ts";
import { readManifest } from "../../support/manifest.ts";

type Step = {
  readonly id: string;
  readonly description: string;
  readonly media: { readonly markdown: string };
  readonly completionEvents: readonly string[];
};

type Manifest = {
  readonly contributes: {
    readonly walkthroughs: readonly { readonly steps: readonly Step[] }[];
    readonly commands: readonly { readonly command: string; readonly title: string }[];
    readonly keybindings: readonly { readonly command: string; readonly key: string }[];
  };
};

const { contributes } = readManifest<Manifest>();
const ids = contributes.commands.map(({ command }) => command);
const stepsOf = ({ contributes }: Manifest) => contributes.walkthroughs.flatMap((walkthrough) => walkthrough.steps);

/** The page of a step in German lies beside the English one: VS Code looks for it under this name. */
const pages = {
  en: ({ media }: Step) => join(projectFolder, media.markdown),
  de: ({ media }: Step) => join(projectFolder, media.markdown.replace(/\.md$/, ".nls.de.md")),
};

describe.each(["en", "de"] as const)("in the language %s", (language) => {
  const steps = stepsOf(readManifest<Manifest>(language));

  test.each(steps)("step $id of the walkthrough has a page, and its links and events name our commands", (step) => {
    expect(existsSync(pages[language](step))).toBe(true);
    const named =
      `${step.description} ${step.completionEvents.join(" ")}`.match(/(?<=command:|onCommand:)hermes\.\w+/gi) ?? [];
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  });

  test("the walkthrough shows every default key", () => {
    const keys = readFileSync(pages[language](steps.find(({ id }) => id === "keys") as Step), "utf8").toLowerCase();
    for (const { key } of contributes.keybindings) expect(keys).toContain(`\`${key}\``);
  });
});
