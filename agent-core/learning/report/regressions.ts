/** Rates of a period against the baseline, and the changes for the worse that are more than chance. */
import type { Rate, Regression } from "../../protocol/learning.ts";
import type { RateSums } from "../../sessions/index/outcome-sums.ts";
import { rateDefinition } from "../../sessions/outcome-rates.ts";
import type { Sums } from "../../sessions/session-outcomes.ts";
import { interval } from "../statistics.ts";

/** Minimum number of samples on each side of a comparison. */
const MIN_COMPARED = 20;
/** A tool that fails this often is named, whatever the baseline. */
const TOOL_ERRORS = 0.2;
const MIN_CALLS = 10;

const NO_SUMS: Sums = [0, 0, 0];

export function ratesOf(period: readonly RateSums[], baseline: readonly RateSums[]): readonly Rate[] {
  return period.map(({ name, of, sums }) => {
    const before = sumsOf(baseline, { name, of });
    return {
      name,
      ...(of !== undefined && { of }),
      value: mean(sums),
      n: sums[0],
      ...(before[0] > 0 && { baseline: before[1] / before[0] }),
    };
  });
}

type Windows = {
  /** The last two days, so that a fault is named a day after it begins. */
  readonly recent: readonly RateSums[];
  readonly period: readonly RateSums[];
  readonly baseline: readonly RateSums[];
};

/** Rates that got worse, and tools that fail often. Each names its sessions. */
export function regressionsOf({ recent, period, baseline }: Windows): readonly Regression[] {
  const worse = worseThan(period, baseline);
  const named = new Set(worse.filter(({ rate }) => rate === "tool_error_rate").map(({ of }) => of));
  const failing = [...recent, ...period].filter(isFailingTool).filter(({ of }) => {
    const isNew = !named.has(of);
    named.add(of);
    return isNew;
  });
  return [...worse, ...failing.map((rate) => regressionOf(rate, sumsOf(baseline, rate)))];
}

/** A regression needs enough samples on both sides, and intervals that part. */
function worseThan(period: readonly RateSums[], baseline: readonly RateSums[]): readonly Regression[] {
  return period.flatMap((now) => {
    const before = sumsOf(baseline, now);
    const { kind, worse } = rateDefinition(now.name);
    if (worse === null || now.sums[0] < MIN_COMPARED || before[0] < MIN_COMPARED) return [];
    const [present, past] = [interval(now.sums, kind), interval(before, kind)];
    const parts = worse === "higher" ? present.low > past.high : present.high < past.low;
    return parts ? [regressionOf(now, before)] : [];
  });
}

function isFailingTool({ name, of, sums: [calls, failures] }: RateSums): boolean {
  return name === "tool_error_rate" && of !== undefined && calls >= MIN_CALLS && failures / calls >= TOOL_ERRORS;
}

/** Without samples in the baseline, `before` is 0. */
function regressionOf({ name, of, sums, sessions }: RateSums, before: Sums): Regression {
  return {
    rate: name,
    ...(of !== undefined && { of }),
    before: mean(before),
    now: mean(sums),
    n: sums[0],
    sessions,
  };
}

function sumsOf(all: readonly RateSums[], { name, of }: Pick<RateSums, "name" | "of">): Sums {
  return all.find((rate) => rate.name === name && rate.of === of)?.sums ?? NO_SUMS;
}

/** 0 without samples. */
function mean([count, sum]: Sums): number {
  return count === 0 ? 0 : sum / count;
}
