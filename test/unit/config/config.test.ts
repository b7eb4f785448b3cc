import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../../agent-core/config/config.ts";
import { homeFolder } from "../../../agent-core/config/home.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-config-"));
});

test("an empty home gives the defaults without a word", async () => {
  const { config, warnings } = await loadConfig(home, {});
  expect(warnings).toEqual([]);
  expect(config.agent.max_turns).toBe(90);
  expect(config.approvals.mode).toBe("manual");
});

test("a home of the original agent is read as it is, keys of its own left alone", async () => {
  writeFileSync(
    join(home, "config.yaml"),
    "model:\n  default: some/model\n  provider: openrouter\nagent:\n  max_turns: null\n  coding_context: auto\nterminal:\n  backend: local\n",
  );
  const { config, warnings } = await loadConfig(home, {});
  expect(warnings).toEqual([]);
  expect(config.model).toEqual({ default: "some/model", provider: "openrouter" });
  expect(config.agent.max_turns).toBe(90);
});

test("a wrong value is reported by its path and costs its own section only", async () => {
  writeFileSync(join(home, "config.yaml"), "model: my-model\nagent:\n  max_turns: many\n");
  const { config, warnings } = await loadConfig(home, {});
  expect(warnings).toEqual([expect.stringContaining("agent.max_turns")]);
  expect(config.agent.max_turns).toBe(90);
  expect(config.model).toEqual({ name: "my-model" });
});

test("broken YAML and a list instead of settings are reported", async () => {
  writeFileSync(join(home, "config.yaml"), "a: [1, 2\nb: }");
  expect((await loadConfig(home, {})).warnings).toEqual([expect.stringContaining("not valid YAML")]);
  writeFileSync(join(home, "config.yaml"), "- one\n- two\n");
  expect((await loadConfig(home, {})).warnings).toEqual([expect.stringContaining("not a mapping")]);
});

test("a folder where the file should be is reported", async () => {
  mkdirSync(join(home, "config.yaml"));
  expect((await loadConfig(home, {})).warnings).toEqual([expect.stringContaining("could not be read")]);
});

test("the process environment wins over the home's .env", async () => {
  writeFileSync(join(home, ".env"), "HERMES_MODEL=from-file\nOTHER='quoted value'\n");
  const { environment } = await loadConfig(home, { HERMES_MODEL: "from-process" });
  expect(environment["HERMES_MODEL"]).toBe("from-process");
  expect(environment["OTHER"]).toBe("quoted value");
});

test("HERMES_HOME names the home, and an empty one does not", () => {
  expect(homeFolder({ HERMES_HOME: "/somewhere" })).toBe("/somewhere");
  expect(homeFolder({ HERMES_HOME: "" })).toMatch(/\.hermes$/);
});

test("values may refer to the environment, with a default; what is not set is reported and stays", async () => {
  writeFileSync(join(home, ".env"), "FROM_FILE=file-key\n");
  writeFileSync(
    join(home, "config.yaml"),
    "providers:\n  own:\n    base_url: http://$" +
      "{OWN_HOST:-127.0.0.1}:9/v1\n    api_key: $" +
      "{FROM_FILE}\nfallback_providers:\n  - provider: own\n    model: $" +
      "{NO_SUCH}\n",
  );
  const { config, warnings } = await loadConfig(home, {});
  expect(config.providers).toEqual({ own: { base_url: "http://127.0.0.1:9/v1", api_key: "file-key" } });
  expect(warnings).toEqual([expect.stringMatching(/fallback_providers refers to .*NO_SUCH/)]);
});
