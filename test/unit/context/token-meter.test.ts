import { expect, test } from "vitest";
import { TokenMeter } from "../../../agent-core/context/token-meter.ts";

const usage = (inputTokens: number, outputTokens = 0) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens: 0,
  reasoningTokens: 0,
});

function after(...counted: readonly number[]): TokenMeter {
  const meter = new TokenMeter();
  for (const tokens of counted) meter.record(usage(tokens), 1_000);
  return meter;
}

test("the provider's count stays, and later messages are scaled by its ratio", () => {
  expect(after(1_500).tokens(1_000)).toBe(1_500);
  expect(after(1_500).tokens(2_000)).toBe(3_000);
});

test("an implausible count is limited", () => {
  expect(after(1_000_000_000).tokens(1_000)).toBe(4_000);
  expect(after(1).tokens(1_000)).toBe(500);
});

test.for([0, -500, Number.NaN])("a count of %s is ignored", (counted) => {
  expect(after(counted).tokens(1_000)).toBe(1_000);
});
