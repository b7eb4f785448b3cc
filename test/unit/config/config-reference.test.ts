import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../agent-core/config/config.ts";
import { sections } from "../../../agent-core/config/sections.ts";

const reference = readFileSync(join(import.meta.dirname, "../../../docs/config.md"), "utf8");

test("the reference of config.yaml has a part for each section, and its examples are read without a warning", async () => {
  const parts = [...reference.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(parts.toSorted()).toEqual(Object.keys(sections).toSorted());
  const examples = [...reference.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml]) => yaml);
  expect(examples.length).toBeGreaterThan(20);
  const home = mkdtempSync(join(tmpdir(), "hermes-reference-"));
  writeFileSync(join(home, "config.yaml"), examples.join(""));
  const { config, warnings, errors } = await loadConfig(home, {});
  expect([warnings, errors]).toEqual([[], []]);
  expect(config.providers["my-name"]).toMatchObject({ keyEnv: "MY_PROVIDER_KEY", extraBody: { top_k: 40 } });
});
