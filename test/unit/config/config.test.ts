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

test("an empty home gives the defaults without a warning", async () => {
  const { config, warnings } = await loadConfig(home, {});
  expect(warnings).toEqual([]);
  expect(config.agent.max_turns).toBe(90);
  expect(config.approvals.mode).toBe("manual");
});

test("a home of the original agent is read, and unknown keys are ignored", async () => {
  writeFileSync(
    join(home, "config.yaml"),
    "model:\n  default: some/model\n  provider: openrouter\nagent:\n  max_turns: null\n  coding_context: auto\nterminal:\n  backend: local\n",
  );
  const { config, warnings } = await loadConfig(home, {});
  expect(warnings).toEqual([]);
  expect(config.model).toEqual({ default: "some/model", provider: "openrouter" });
  expect(config.agent.max_turns).toBe(90);
});

test("a wrong value is reported by its path, and affects its own section only", async () => {
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

test("HERMES_HOME names the home, unless it is empty", () => {
  expect(homeFolder({ HERMES_HOME: "/somewhere" })).toBe("/somewhere");
  expect(homeFolder({ HERMES_HOME: "" })).toMatch(/\.hermes$/);
});

test("terminal: the original's names and defaults; an invalid section runs no command on the wrong machine", async () => {
  const read = async (yaml: string) => {
    const home = mkdtempSync(join(tmpdir(), "hermes-config-"));
    writeFileSync(join(home, "config.yaml"), yaml);
    return loadConfig(home, {});
  };
  expect((await read("agent:\n  max_turns: 5\n")).config.terminal).toMatchObject({ backend: "local" });
  const ssh = "terminal:\n  backend: ssh\n  ssh_host: host\n  ssh_port: 22\n";
  expect((await read(ssh)).config.terminal).toMatchObject({ backend: "ssh", ssh_host: "host", ssh_port: 22 });
  const wrong = await read("terminal:\n  backend: docker\n  container_cpu: many\n");
  expect(wrong.config.terminal.backend).toBe("unusable");
  expect(wrong.warnings).toEqual([
    expect.stringMatching(/^config\.yaml: terminal\.container_cpu: .*It is not used\.$/),
  ]);
});

test("values may refer to the environment, with a default; unset references are reported and stay", async () => {
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
