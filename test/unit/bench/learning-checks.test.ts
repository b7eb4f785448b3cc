// Checks of the learning bench: a loop carries its measure, and the measure returns to its first day without the loop.
import { expect, test } from "vitest";
import { type Check, checksOf } from "../../bench/learning/checks.ts";
import { METRICS, Results } from "../../bench/learning/results.ts";
import type { ArmRun, TaskRecord } from "../../bench/learning/run-arm.ts";

const DAYS = 30;
const SEEDS = [1, 2, 3, 4, 5, 6];

/** Tasks of a kind, of which this share is right at once on each day. */
function armOf(arm: string, kind: string, right: (day: number) => number, tasksADay = 4): readonly ArmRun[] {
  return SEEDS.map((seed) => {
    const tasks = Array.from({ length: DAYS * tasksADay }, (_, index) => {
      const day = 1 + Math.floor(index / tasksADay);
      const firstTry = ((index * 7 + seed) % tasksADay) / tasksADay < right(day);
      return { arm, seed, day, kind, family: kind, firstTry, iterations: firstTry ? 7 : 12 } as TaskRecord;
    });
    return { arm, seed, tasks, days: [], injected: 0, unknownRequests: [], tokens: [], milliseconds: 1 };
  });
}

const learns = (day: number): number => (day === 1 ? 0.25 : 1);

function check(runs: readonly ArmRun[], name: string): Check | undefined {
  return checksOf(new Results(runs, DAYS)).find((each) => each.name === name);
}

const FALLS = "procedure at once, no-distillation less the first day";
const EFFECT = "procedure at once, on less no-distillation";

test.each([
  { label: "nothing stays without the loop", without: () => 0.25, falls: true, differs: true },
  { label: "it is worse than at first without the loop", without: () => 0, falls: true, differs: true },
  { label: "half stays without the loop", without: () => 0.75, falls: false, differs: true },
  { label: "the loop makes no difference", without: learns, falls: false, differs: false },
])("$label", ({ without, falls, differs }) => {
  const runs = [...armOf("on", "procedure", learns), ...armOf("no-distillation", "procedure", without)];
  expect(check(runs, FALLS)?.ok).toBe(falls);
  expect(check(runs, EFFECT)?.ok).toBe(differs);
});

test("fewer iterations are better", () => {
  const runs = [...armOf("on", "procedure", learns), ...armOf("no-distillation", "procedure", () => 0.25)];
  expect(check(runs, "iterations of a procedure, no-distillation less the first day")?.ok).toBe(true);
  expect(check(runs, "iterations of a procedure, on less no-distillation")).toMatchObject({
    ok: true,
    measured: expect.stringMatching(/^-3\.\d\d \[-4\.\d\d, -[23]\.\d\d\]$/),
  });
});

test("the second day counts as well where the first one has less than ten tasks", () => {
  const firstDays = (tasksADay: number): number => {
    const runs = ["on", "no-distillation"].flatMap((arm) => armOf(arm, "procedure", () => 0.5, tasksADay));
    return new Results(runs, DAYS).riseSince("on", "no-distillation", METRICS.procedure).firstDays;
  };
  expect(firstDays(1)).toBe(2);
  expect(firstDays(2)).toBe(1);
});

test("a measure without a task on the first days is no success", () => {
  const runs = ["on", "no-consolidation"].flatMap((arm) => armOf(arm, "procedure", () => 0.5));
  expect(check(runs, "decision at once, no-consolidation less the first day")?.ok).toBe(false);
});
