import { expect, test } from "vitest";
import { regressionsOf } from "../../../../agent-core/learning/report/regressions.ts";
import { wilson } from "../../../../agent-core/learning/statistics.ts";
import type { RateSums } from "../../../../agent-core/sessions/index/outcome-sums.ts";
import type { RateName } from "../../../../agent-core/sessions/outcome-rates.ts";
import type { Sums } from "../../../../agent-core/sessions/session-outcomes.ts";

/** Numbers in [0, 1) from a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const GROUPS: readonly (readonly [RateName, string | undefined, number])[] = [
  ...(["task_success_rate", "escalation_rate", "context_overflow_rate", "retry_rate"] as const).flatMap((name) =>
    [undefined, "local:m", "local:n", "m"].map((of) => [name, of, name === "task_success_rate" ? 0.8 : 0.1] as const),
  ),
  ...["terminal", "read_file", "patch"].map((of) => ["tool_error_rate", of, 0.05] as const),
  ["corrections_per_task", undefined, 0.3],
];

/** A world without a change: each sample comes from the same distribution in the period and before it. */
function samples(next: () => number, count: number): readonly RateSums[] {
  return GROUPS.map(([name, of, share]) => {
    let sums: Sums = [0, 0, 0];
    for (let number = 0; number < count; number += 1) {
      const value = next() < share ? 1 : 0;
      sums = [sums[0] + 1, sums[1] + value, sums[2] + value];
    }
    return { name, of, sums, sessions: [] };
  });
}

test("chance alone is named in at most 5% of 200 worlds", () => {
  let named = 0;
  for (let seed = 1; seed <= 200; seed += 1) {
    const next = seeded(seed);
    const [period, baseline] = [samples(next, 40), samples(next, 160)];
    if (regressionsOf({ recent: [], period, baseline }).length > 0) named += 1;
  }
  expect(named).toBeLessThanOrEqual(10);
});

test("a change needs 20 samples on both sides", () => {
  const rate = (count: number, cases: number): readonly RateSums[] => [
    { name: "escalation_rate", of: undefined, sums: [count, cases, cases], sessions: [] },
  ];
  expect(regressionsOf({ recent: [], period: rate(19, 19), baseline: rate(50, 0) })).toEqual([]);
  expect(regressionsOf({ recent: [], period: rate(20, 20), baseline: rate(19, 0) })).toEqual([]);
  expect(regressionsOf({ recent: [], period: rate(20, 20), baseline: rate(20, 0) })).toHaveLength(1);
  expect(regressionsOf({ recent: [], period: rate(50, 0), baseline: rate(50, 50) })).toEqual([]);
});

test("a 95% interval of a share has the value of the textbook", () => {
  const { low, high } = wilson(0.8, 20);
  expect(low).toBeCloseTo(0.584, 3);
  expect(high).toBeCloseTo(0.9193, 3);
});
