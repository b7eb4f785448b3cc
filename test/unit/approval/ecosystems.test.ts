import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Grants } from "../../../agent-core/approval/grants.ts";
import { decide } from "../../../agent-core/approval/policy.ts";
import { withPackages } from "./support/packages.ts";

type Line = { readonly command: string; readonly needsGrant: boolean };

/** Commands of each ecosystem, with those that every ecosystem shares. */
function readEcosystems(): ReadonlyMap<string, readonly Line[]> {
  const text = readFileSync(join(import.meta.dirname, "corpus/ecosystems.txt"), "utf8");
  const sections = text.split(/^## /m).slice(1);
  const all = sections.map((section): [string, Line[]] => {
    const [name = "", ...lines] = section.split("\n").filter((line) => line !== "");
    return [name, lines.flatMap(linesOf)];
  });
  const shared = all.find(([name]) => name === "every")?.[1] ?? [];
  return new Map(all.filter(([name]) => name !== "every").map(([name, lines]) => [name, [...lines, ...shared]]));
}

function linesOf(line: string): readonly Line[] {
  const needsGrant = line.startsWith("? ");
  return expanded(needsGrant ? line.slice(2) : line).map((command) => ({ command, needsGrant }));
}

function expanded(line: string): readonly string[] {
  const [, before = "", list, after = ""] = /^(.*?)\{([^{}$]*,[^{}]*)\}(.*)$/s.exec(line) ?? [];
  return list === undefined ? [line] : list.split(",").flatMap((item) => expanded(before + item + after));
}

/** Commands that ask although they are harmless, or although an earlier answer granted them. */
function needless(lines: readonly Line[], root: string, sandbox = false): readonly string[] {
  const home = "/home/someone";
  const scope = { cwd: root, roots: [root], home, hermesHome: `${home}/.hermes`, resolvePath: withPackages(root) };
  const grants = new Grants(join(mkdtempSync(join(tmpdir(), "hermes-everyday-")), "grants.json"), () => undefined);
  const asks = ({ command }: Line) => {
    const context = { mode: "code", scope, trusted: true, grants, sandbox } as const;
    const decision = decide({ kind: "command", command, cwd: root }, context);
    if (decision.kind === "ask" && decision.grant) void grants.keep(decision.grant, "session");
    return decision.kind !== "allow";
  };
  const first = lines.filter(asks);
  return [...first.filter(({ needsGrant }) => !needsGrant), ...first.filter(asks)].map(({ command }) => command);
}

const ecosystems = readEcosystems();

test.each([...ecosystems.keys()])(
  "without a sandbox at most 12 of 100 everyday commands ask needlessly: %s",
  (name) => {
    const lines = ecosystems.get(name) ?? [];
    expect(lines.length).toBeGreaterThanOrEqual(200);
    const asked = needless(lines, "/projects/p");
    expect(asked.length / lines.length, asked.join("\n")).toBeLessThanOrEqual(0.12);
  },
);

test.each([...ecosystems.keys()])("in the sandbox at most 6 of 100 of them ask needlessly: %s", (name) => {
  const lines = ecosystems.get(name) ?? [];
  const asked = needless(lines, "/projects/p", true);
  expect(asked.length / lines.length, asked.join("\n")).toBeLessThanOrEqual(0.06);
});

test.each([...ecosystems.keys()])("a secret file in the workspace makes few of them ask: %s", (name) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-ecosystem-")));
  writeFileSync(join(root, ".env"), "KEY=1\n");
  const lines = ecosystems.get(name) ?? [];
  const asked = needless(lines, root);
  expect(asked.length / lines.length, asked.join("\n")).toBeLessThanOrEqual(0.12);
});

/** Commands of ten trades, written after the rules. */
function readTrades(): readonly Line[] {
  const lines = readFileSync(join(import.meta.dirname, "corpus/trades.txt"), "utf8").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ command: line.replace(/^\? /, ""), needsGrant: line.startsWith("? ") }));
}

test.each([
  { sandbox: true, limit: 0.06 },
  { sandbox: false, limit: 0.12 },
])("few everyday commands of ten trades ask needlessly (sandbox: $sandbox)", ({ sandbox, limit }) => {
  const lines = readTrades();
  expect(lines).toHaveLength(200);
  const asked = needless(lines, "/projects/p", sandbox);
  expect(asked.length / lines.length, asked.join("\n")).toBeLessThanOrEqual(limit);
});
