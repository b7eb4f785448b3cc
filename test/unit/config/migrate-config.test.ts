import { expect, test } from "vitest";
import { migrateConfig } from "../../../agent-core/config/migrate-config.ts";
import { checkNames } from "../../../agent-core/config/setting-names.ts";
import { parseYaml } from "../../../agent-core/config/yaml.ts";

const OLD = `# My settings
model: qwen3:8b # the small one
provider: ollama
# not too many
max_turns: 30
compression:
  enabled: true
  summary_model: tiny # cheap
custom_providers:
  # in the cellar
  - name: My Box (GPU)
    url: http://10.0.0.5:8000/v1
    transport: chat_completions
  - base_url: https://llm.example.org/v1
    api_key: k
`;

test("old names become the present ones, and comments and order stay", () => {
  const { text, changes } = migrateConfig(OLD);
  expect(parseYaml(text)).toEqual({
    _config_version: 17,
    model: { default: "qwen3:8b", provider: "ollama" },
    agent: { max_turns: 30 },
    compression: { enabled: true },
    auxiliary: { compression: { model: "tiny" } },
    providers: {
      "my-box-gpu": { base_url: "http://10.0.0.5:8000/v1", api_mode: "chat_completions" },
      "llm.example.org": { base_url: "https://llm.example.org/v1", api_key: "k" },
    },
  });
  for (const comment of ["# My settings", "# the small one", "# not too many", "# cheap", "# in the cellar"]) {
    expect(text).toContain(comment);
  }
  expect(text.indexOf("model:")).toBeLessThan(text.indexOf("compression:"));
  expect(changes).toContain("max_turns is agent.max_turns now");
  expect(checkNames(Object(parseYaml(text)))).toMatchObject({ errors: [], warnings: [] });
});

test("a migrated file stays as it is to the byte", () => {
  const { text } = migrateConfig(OLD);
  expect(migrateConfig(text)).toEqual({ text, changes: [] });
  const odd = "agent:   {max_turns:  5}   # wide\n";
  expect(migrateConfig(odd)).toEqual({ text: odd, changes: [] });
});

test("a value with its present name wins, and a newer version stays", () => {
  const { text } = migrateConfig("_config_version: 30\nmax_turns: 5\nagent:\n  max_turns: 60\n");
  expect(parseYaml(text)).toEqual({ _config_version: 30, agent: { max_turns: 60 } });
});

test("an entry without an address stays, with all others, and invalid YAML is an error", () => {
  const list = "custom_providers:\n  - name: a\n";
  expect(migrateConfig(list).changes).toEqual([expect.stringContaining("custom_providers stays")]);
  expect(parseYaml(migrateConfig(list).text)).toMatchObject({ custom_providers: [{ name: "a" }] });
  expect(() => migrateConfig("a: [1")).toThrow();
});
