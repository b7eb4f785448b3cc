import { expect, test } from "vitest";
import { modelInfo, unsentSampling } from "../../../agent-core/providers/model-info.ts";

test.each([
  ["gpt-4.1", 1_047_576],
  ["openai/gpt-4.1-mini", 1_047_576],
  ["gpt-4o-2024-11-20", 128_000],
  ["GPT-5-codex", 400_000],
  ["anthropic/claude-sonnet-4.5", 200_000],
  ["claude-sonnet-4-5-20250929", 200_000],
  ["claude-sonnet-5-5", 1_000_000],
  ["anthropic/claude-haiku-5.5", 1_000_000],
  ["o3", 200_000],
  ["openai/o4-mini", 200_000],
])("the table knows the window of %s", (model, contextWindow) => {
  expect(modelInfo(model).contextWindow).toBe(contextWindow);
});

test("an answer of the first Opus 4 is shorter than those of its successors", () => {
  expect(modelInfo("claude-opus-4-20250514").maxOutputTokens).toBe(32_000);
  expect(modelInfo("claude-opus-4.1").maxOutputTokens).toBe(32_000);
  expect(modelInfo("claude-opus-4-5-20251101").maxOutputTokens).toBe(64_000);
});

test.each(["offline", "qwen2.5-coder:7b", "my-foo3-model", ""])("the table is cautious about %s", (model) => {
  expect(modelInfo(model)).toEqual({
    contextWindow: 128_000,
    maxOutputTokens: 8_192,
    images: false,
    reasoning: false,
    price: undefined,
  });
});

test.each([
  ["gpt-4.1", false],
  ["gpt-5.1", true],
  ["o4-mini", true],
  ["claude-sonnet-4-5", true],
  ["anthropic/claude-3.5-haiku", false],
  ["claude-3-7-sonnet-latest", true],
  ["deepseek/deepseek-chat", false],
  ["qwen3:8b", true],
  ["qwen3-coder:30b", false],
])("the table knows whether %s thinks before it answers", (model, reasoning) => {
  expect(modelInfo(model).reasoning).toBe(reasoning);
});

test("prices are dollars a million tokens, of the model itself and not of its bigger sister", () => {
  expect(modelInfo("gpt-4.1-mini-2025-04-14").price).toEqual({ input: 0.4, output: 1.6, cachedInput: 0.1 });
  expect(modelInfo("claude-opus-4-1-20250805").price?.output).toBe(75);
  expect(modelInfo("claude-opus-4-20250514").price?.output).toBe(75);
  expect(modelInfo("claude-opus-4-5").price?.output).toBe(25);
});

test("facts from the endpoint override the table", () => {
  expect(modelInfo("qwen3:8b", { contextWindow: 4_096, images: true })).toMatchObject({
    contextWindow: 4_096,
    images: true,
    reasoning: true,
  });
});

test("sampling options that an API does not take are known, so that the user can be told", () => {
  expect(unsentSampling("chat_completions", "gpt-5")).toEqual([]);
  expect(unsentSampling("codex_responses", "gpt-4.1")).toEqual(["stop"]);
  expect(unsentSampling("codex_responses", "gpt-5")).toEqual(["temperature", "topP", "stop"]);
  expect(unsentSampling("anthropic_messages", "claude-sonnet-4-5")).toEqual(["temperature", "topP"]);
  expect(unsentSampling("anthropic_messages", "glm-5")).toEqual([]);
});
