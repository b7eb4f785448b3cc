import { expect, test } from "vitest";
import { choiceId, parseChoice, resolveChoice, settingsOf } from "../../../agent-core/providers/model-choice.ts";
import { resolveModel } from "../../../agent-core/providers/resolve-model.ts";

const nowhere = { available: [], own: [] };

test.each([
  ["openai:gpt-4.1", { provider: "openai", model: "gpt-4.1" }],
  ["ollama:qwen3:8b", { provider: "ollama", model: "qwen3:8b" }],
  ["offline", { provider: "offline", model: "offline" }],
])("%s is a choice and back", (id, choice) => {
  expect(parseChoice(id)).toEqual(choice);
  expect(choiceId(choice)).toBe(id);
});

test.each(["", "gpt-4.1", ":x", "openai:"])("%j is none", (id) => {
  expect(parseChoice(id)).toBeUndefined();
});

test("a choice of the configured endpoint keeps its address under any name", () => {
  const environment = {
    HERMES_PROVIDER: "acme",
    HERMES_BASE_URL: "https://acme.example/v1",
    HERMES_API_KEY: "k",
    HERMES_MODEL: "m",
  };
  const resolution = resolveChoice({ provider: "acme", model: "other" }, environment, nowhere);
  expect(resolution).toMatchObject({
    ok: true,
    model: { model: "other", endpoint: { provider: "acme", baseUrl: "https://acme.example/v1", apiKey: "k" } },
  });
});

test("a choice without its key is refused, and the error names the missing key", () => {
  expect(resolveChoice({ provider: "openrouter", model: "x/y" }, {}, nowhere)).toMatchObject({
    ok: false,
    keyFor: "openrouter",
    keyAdvice: expect.stringContaining("OPENROUTER_API_KEY"),
  });
});

test("resolved settings resolve to the same model in any environment", () => {
  const chosen = resolveChoice({ provider: "ollama", model: "qwen3" }, {}, nowhere);
  if (!chosen.ok) throw new Error(chosen.message);
  const elsewhere = { HERMES_BASE_URL: "https://x.example/v1", HERMES_API_KEY: "secret", HERMES_MODEL: "m" };
  expect(resolveModel(settingsOf(chosen.model), elsewhere)).toEqual(chosen);
});
