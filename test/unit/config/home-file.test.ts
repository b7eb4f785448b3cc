import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../../agent-core/config/config.ts";
import { setHomeModel, setHomeVariable, setPluginEnabled } from "../../../agent-core/config/home-file.ts";

const MODULE = join(import.meta.dirname, "../../../agent-core/config/home-file.ts");
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-written-"));
});

/** Another process that sets 25 variables, whose names begin with `prefix`. */
async function setElsewhere(prefix: string): Promise<void> {
  const script = `import { setHomeVariable } from ${JSON.stringify(MODULE)};
    const [home, prefix] = process.argv.slice(1);
    for (let at = 0; at < 25; at += 1) await setHomeVariable(home, prefix + at, "x");`;
  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script, home, prefix]);
}

test("processes and calls in one process that set variables at the same moment lose none", {
  timeout: 60_000,
}, async () => {
  const own = Array.from({ length: 25 }, (_, at) => setHomeVariable(home, `OWN_${at}`, "x"));
  await Promise.all([...["A_", "B_", "C_"].map(setElsewhere), ...own]);
  const { environment } = await loadConfig(home, {});
  const wanted = ["OWN_", "A_", "B_", "C_"].flatMap((name) => Array.from({ length: 25 }, (_, at) => name + at));
  expect(new Set(Object.keys(environment))).toEqual(new Set(wanted));
  expect(readdirSync(home)).toEqual([".env"]);
});

test("the error names a home that cannot be created, with the reason", async () => {
  writeFileSync(join(home, "file"), "");
  const model = { provider: "custom", model: "some-model", baseUrl: undefined };
  await expect(setHomeModel(join(home, "file"), model)).rejects.toThrow(/^Could not write the model to .*file/);
});

test.each([
  ["", "plugins:\n  enabled:\n    - new\n"],
  ["plugins:\n", "plugins:\n  enabled:\n    - new\n"],
  ["plugins:\n  enabled: old\n", "plugins:\n  enabled:\n    - old\n    - new\n"],
  ["plugins:\n  enabled: [new]\n  disabled: [new]\n", "plugins:\n  enabled: [ new ]\n  disabled: []\n"],
  [`# ${"long ".repeat(30)}\nnote: ${"long ".repeat(30)}end\n`, undefined],
])("a plugin is enabled in config.yaml %j, and the rest stays", async (before, after) => {
  writeFileSync(join(home, "config.yaml"), before);
  await setPluginEnabled(home, "new", true);
  const written = readFileSync(join(home, "config.yaml"), "utf8");
  expect(written).toBe(after ?? `${before}plugins:\n  enabled:\n    - new\n`);
  await setPluginEnabled(home, "new", false);
  expect(readFileSync(join(home, "config.yaml"), "utf8")).not.toContain("new");
});
