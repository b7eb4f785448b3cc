import { expect, test } from "vitest";
import { modelInfo } from "../../../agent-core/providers/model-info.ts";

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
])("knows the window of %s", (model, contextWindow) => {
  expect(modelInfo(model).contextWindow).toBe(contextWindow);
});

test("an answer of the first Opus 4 is shorter than those of its successors", () => {
  expect(modelInfo("claude-opus-4-20250514").maxOutputTokens).toBe(32_000);
  expect(modelInfo("claude-opus-4.1").maxOutputTokens).toBe(32_000);
  expect(modelInfo("claude-opus-4-5-20251101").maxOutputTokens).toBe(64_000);
});

test.each(["offline", "qwen2.5-coder:7b", "my-foo3-model", ""])("is cautious about %s", (model) => {
  expect(modelInfo(model)).toEqual({ contextWindow: 128_000, maxOutputTokens: 8_192 });
});
