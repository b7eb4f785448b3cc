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

test("what the provider counted holds, and what was added since is scaled like it", () => {
  expect(after(1_500).tokens(1_000)).toBe(1_500);
  expect(after(1_500).tokens(2_000)).toBe(3_000);
});

test("a count that cannot be true is believed no further than an estimate can be wrong", () => {
  expect(after(1_000_000_000).tokens(1_000)).toBe(4_000);
  expect(after(1).tokens(1_000)).toBe(500);
});

test.for([0, -500, Number.NaN])("a count of %s is none", (counted) => {
  expect(after(counted).tokens(1_000)).toBe(1_000);
});
