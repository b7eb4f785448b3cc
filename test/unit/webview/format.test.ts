import { expect, test } from "vitest";
import { formatCost, retryLine } from "../../../webview/views/format.ts";

test("a cost is shown unless it is unknown or zero", () => {
  expect([undefined, 0, 0.004, 0.126].map(formatCost)).toEqual([undefined, undefined, "<$0.01", "$0.13"]);
});

test("a wait before a retry counts down, and names its total afterwards", () => {
  const retry = { reason: "openai is overloaded (503).", delayMs: 8_000, waitedMs: 60_000, until: 100_000 };
  expect(retryLine(retry, false, 92_000)).toBe(`${retry.reason} Next try in 8 s. Waited 1 min 0 s so far.`);
  expect(retryLine(retry, false, 97_500)).toBe(`${retry.reason} Next try in 3 s. Waited 1 min 6 s so far.`);
  expect(retryLine(retry, false, 103_000)).toBe(`${retry.reason} Trying again. Waited 1 min 8 s so far.`);
  expect(retryLine(retry, true, 500_000)).toBe(`${retry.reason} Waited 1 min 8 s.`);
  expect(retryLine({ ...retry, waitedMs: 0 }, false, 92_000)).toBe(`${retry.reason} Next try in 8 s.`);
});
