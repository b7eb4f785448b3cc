import { expect, test } from "vitest";
import { findModel } from "../../../agent-core/acp/find-model.ts";
import type { ModelGroup } from "../../../agent-core/agent/model-directory.ts";

const groups: readonly ModelGroup[] = [
  {
    provider: "openrouter",
    title: "OpenRouter",
    isListed: true,
    models: [
      { id: "anthropic/claude-sonnet-4.5", name: "Anthropic: Claude Sonnet 4.5" },
      { id: "anthropic/claude-opus-4.5", name: "Anthropic: Claude Opus 4.5" },
      { id: "openai/gpt-4.1" },
      { id: "openai/gpt-4.1-mini" },
    ],
  },
  { provider: "custom", title: "Other Endpoint", isListed: false, models: [] },
  { provider: "lmstudio", title: "LM Studio", isListed: true, models: [{ id: "openai/gpt-4.1" }, { id: "qwen3" }] },
  { provider: "offline", title: "Built in", isListed: true, models: [{ id: "offline" }] },
];

const found = (query: string, provider = "openrouter"): unknown => {
  const result = findModel(query, groups, { provider, model: "any" });
  if (result.kind === "one") return `${result.choice.provider} ${result.choice.model}`;
  return result.kind === "several" ? result.choices.length : "none";
};

test("an exact name precedes longer names that begin with it", () => {
  expect(found("openai/gpt-4.1")).toBe("openrouter openai/gpt-4.1");
  expect(found("openrouter:openai/gpt-4.1")).toBe("openrouter openai/gpt-4.1");
  expect(found("offline")).toBe("offline offline");
});

test("a model of several providers is taken from the current one", () => {
  expect(found("openai/gpt-4.1", "lmstudio")).toBe("lmstudio openai/gpt-4.1");
  expect(found("openai/gpt-4.1", "offline")).toBe(2);
});

test("parts of names match in any order and case", () => {
  expect(found("Opus claude")).toBe("openrouter anthropic/claude-opus-4.5");
  expect(found("4.1")).toBe(3);
});

test("an unknown name is accepted if the endpoint has no list", () => {
  expect(found("my-fine-tune")).toBe("custom my-fine-tune");
  expect(found("custom:my-fine-tune")).toBe("custom my-fine-tune");
  expect(found("no such model")).toBe("none");
});
