import { expect, test } from "vitest";
import { estimateTokens, TokenMeter } from "../../../agent-core/context/token-meter.ts";
import type { Message } from "../../../agent-core/messages/message.ts";

const usage = (inputTokens: number, outputTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens: 0,
  reasoningTokens: 0,
});

function after(...counted: readonly number[]): TokenMeter {
  const meter = new TokenMeter();
  for (const tokens of counted) meter.record(usage(tokens), 1_000, 100_000);
  return meter;
}

test("the provider's count stays, and later messages are scaled by its ratio", () => {
  expect(after(1_500).tokens(1_000)).toBe(1_500);
  expect(after(1_500).tokens(2_000)).toBe(3_000);
});

test("a count far from the estimate is shown as the provider gave it, and later text is scaled moderately", () => {
  const meter = after(95_000);
  expect(meter.tokens(1_000)).toBe(95_000);
  expect(meter.tokens(1_100)).toBe(95_400);
  expect(after(150).tokens(1_000)).toBe(150);
});

test("a character of Chinese, Japanese or Korean counts as a token", () => {
  expect(estimateTokens([{ role: "user", content: "東京の天気は한국어" }])).toBe(4 + 9);
  expect(estimateTokens([{ role: "user", content: "plain text in English, with umlauts: äöü" }])).toBe(4 + 10);
});

test("messages that a conversation gained since the last estimate are added to it", () => {
  const messages: Message[] = [{ role: "user", content: "12345678" }];
  expect(estimateTokens(messages)).toBe(4 + 2);
  messages.push({ role: "assistant", content: "1234" });
  expect(estimateTokens(messages)).toBe(4 + 2 + 4 + 1);
  expect(estimateTokens(messages.slice(1))).toBe(4 + 1);
});

test("an absurd count is limited", () => {
  expect(after(1_000_000_000).tokens(1_000)).toBe(4_000);
  expect(after(1).tokens(1_000)).toBe(500);
});

test.for([0, -500, Number.NaN])("a count of %s is ignored", (counted) => {
  expect(after(counted).tokens(1_000)).toBe(1_000);
});
