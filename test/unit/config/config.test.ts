import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../../agent-core/config/config.ts";
import { homeFolder } from "../../../agent-core/config/home.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-config-"));
});

function read(yaml: string) {
  writeFileSync(join(home, "config.yaml"), yaml);
  return loadConfig(home, {});
}

test("an empty home gives the defaults without a warning", async () => {
  const { config, warnings } = await loadConfig(home, {});
  expect(warnings).toEqual([]);
  expect(config.agent.maxTurns).toBe(90);
  expect(config.approvals.mode).toBe("manual");
});

test("a home of the original agent is read, and its settings without effect are named in one line", async () => {
  writeFileSync(
    join(home, "config.yaml"),
    "model:\n  default: some/model\n  provider: openrouter\nagent:\n  max_turns: null\n  verify_on_stop: true\nterminal:\n  backend: local\n_config_version: 32\ntts: {}\n",
  );
  const { config, warnings, errors } = await loadConfig(home, {});
  expect(warnings).toEqual(["config.yaml: unknown settings without effect: agent.verify_on_stop, tts."]);
  expect(errors).toEqual([]);
  expect(config.model).toEqual({ default: "some/model", provider: "openrouter" });
  expect(config.agent.maxTurns).toBe(90);
});

test("a wrong value is reported by its path, and affects its own section only", async () => {
  writeFileSync(join(home, "config.yaml"), "model: my-model\nagent:\n  max_turns: many\n");
  const { config, warnings } = await loadConfig(home, {});
  expect(warnings).toEqual([expect.stringContaining("agent.max_turns")]);
  expect(config.agent.maxTurns).toBe(90);
  expect(config.model).toEqual({ name: "my-model" });
});

test("a config.yaml that cannot be read is an error: no command runs, and only tools that read are available", async () => {
  const strict = { terminal: { backend: "unusable" }, toolsets: ["safe"] };
  for (const [yaml, reason] of [
    ["a: [1, 2\nb: }", "is not valid YAML"],
    ["- one\n- two\n", "is not a mapping"],
  ] as const) {
    const { config, warnings, errors } = await read(yaml);
    expect(errors).toEqual([expect.stringContaining(reason)]);
    expect(warnings).toEqual([]);
    expect(config).toMatchObject(strict);
  }
  expect((await read("# nothing but a comment\n")).errors).toEqual([]);
});

test("a folder where the file should be is an error", async () => {
  mkdirSync(join(home, "config.yaml"));
  expect((await loadConfig(home, {})).errors).toEqual([expect.stringContaining("could not be read")]);
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
  expect(homeFolder({ HERMES_HOME: "~/my-hermes" })).toBe(join(homedir(), "my-hermes"));
});

test("terminal: the original's names and defaults; an invalid section runs no command on the wrong machine", async () => {
  expect((await read("agent:\n  max_turns: 5\n")).config.terminal).toMatchObject({ backend: "local" });
  const ssh = "terminal:\n  backend: ssh\n  ssh_host: host\n  ssh_port: 22\n";
  expect((await read(ssh)).config.terminal).toMatchObject({ backend: "ssh", sshHost: "host", sshPort: 22 });
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
  expect(config.providers).toEqual({ own: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "file-key" } });
  expect(warnings).toEqual([expect.stringMatching(/fallback_providers refers to .*NO_SUCH/)]);
});

test("an unknown name is reported with the nearest valid one, at every depth", async () => {
  const { warnings, errors } = await read(
    "agent:\n  max_turn: 5\ncompresion: {}\nproviders:\n  own:\n    base_ur: http://x\nauxiliary:\n  titel_generation: {}\n  compression:\n    modle: m\nmycorp: 1\n",
  );
  expect(warnings).toEqual([
    "config.yaml: unknown settings without effect: agent.max_turn (did you mean max_turns?), compresion (did you mean compression?), " +
      "providers.own.base_ur (did you mean base_url?), auxiliary.titel_generation (did you mean title_generation?), " +
      "auxiliary.compression.modle (did you mean model?), mycorp.",
  ]);
  expect(errors).toEqual([]);
});

test.each([
  ["terminal:\n  sandbx: on\n", "terminal.sandbox", { terminal: { backend: "unusable" } }],
  ["terminl:\n  backend: ssh\n", "terminal", { terminal: { backend: "unusable" } }],
  ["approvals:\n  mode: off\n  mod: manual\n", "approvals.mode", { approvals: { mode: "manual" } }],
  ["network:\n  strict_ssl: false\n  strict_ssI: true\n", "network.strict_ssl", { network: { strictSsl: true } }],
  ["agent:\n  disabled_toolset: terminal\n", "agent.disabled_toolsets", { toolsets: ["safe"] }],
  ["toolset: [file]\n", "toolsets", { toolsets: ["safe"] }],
])("a misspelt name of a protection is an error, and the strict value applies: %j", async (yaml, meant, strict) => {
  const { config, warnings, errors } = await read(yaml);
  expect(warnings).toEqual([]);
  expect(errors).toEqual([expect.stringContaining(`is not a setting. Did you mean ${meant}?`)]);
  expect(config).toMatchObject(strict);
});

test("a wrong value costs its own setting only; a restriction of tools that cannot be read stays strict", async () => {
  const { config } = await read("agent:\n  max_turns: many\n  disabled_toolsets: terminal\n");
  expect(config.agent).toMatchObject({ maxTurns: 90, disabledToolsets: ["terminal"] });
  expect((await read("agent:\n  disabled_toolsets:\n    terminal: true\n")).config.toolsets).toEqual(["safe"]);
});

test("empty settings, as the original writes them, mean the default", async () => {
  const task = "{provider: auto, model: '', base_url: '', api_key: '', timeout: 120}";
  const { config, warnings } = await read(`model: ''\nauxiliary:\n  compression: ${task}\n`);
  expect(warnings).toEqual([]);
  expect(config.auxiliary.compression).toEqual({ provider: "auto", timeout: 120, fallbackChain: [] });
});

test("a newer format of config.yaml is reported", async () => {
  expect((await read("_config_version: 999\n")).warnings).toEqual([expect.stringContaining("version 999")]);
});
