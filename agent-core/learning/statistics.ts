/** Statistics of the loops: intervals, and the comparison of a period with the baseline. */
import type { Sums } from "../sessions/session-outcomes.ts";

export type Interval = { readonly value: number; readonly low: number; readonly high: number };

/** Standard deviations of a 95 % interval. */
const Z95 = 1.959964;

/** 95 % Wilson interval of a mean from 0 to 1 over `count` samples; from 0 to 1 without samples. */
export function wilson(mean: number, count: number): { readonly low: number; readonly high: number } {
  if (count === 0) return { low: 0, high: 1 };
  const square = Z95 * Z95;
  const centre = (mean + square / (2 * count)) / (1 + square / count);
  const half = (Z95 / (1 + square / count)) * Math.sqrt((mean * (1 - mean)) / count + square / (4 * count * count));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** Mean of the samples with its 95 % interval: Wilson's for shares, the normal one for other means. */
export function interval([count, sum, squares]: Sums, kind: "share" | "mean"): Interval {
  if (count === 0) return { value: 0, low: 0, high: 0 };
  const value = sum / count;
  if (kind === "mean") {
    const half = Z95 * Math.sqrt(variance([count, sum, squares]) / count);
    return { value, low: Math.max(0, value - half), high: value + half };
  }
  return { value, ...wilson(value, count) };
}

/** Variance of the samples; 0 below two. */
function variance([count, sum, squares]: Sums): number {
  return count < 2 ? 0 : Math.max(0, (squares - (sum * sum) / count) / (count - 1));
}

/** Two-sided p-value of equal means, by the normal approximation. Pooled for shares. */
export function pValue(one: Sums, other: Sums, kind: "share" | "mean"): number {
  if (one[0] === 0 || other[0] === 0) return 1;
  const difference = one[1] / one[0] - other[1] / other[0];
  if (difference === 0) return 1;
  const pooled = (one[1] + other[1]) / (one[0] + other[0]);
  const [first, second] =
    kind === "share" ? [pooled * (1 - pooled), pooled * (1 - pooled)] : [variance(one), variance(other)];
  const error = Math.sqrt(first / one[0] + second / other[0]);
  return error === 0 ? 0 : 2 * (1 - normal(Math.abs(difference) / error));
}

/** Indexes of the hypotheses that Benjamini and Hochberg's procedure rejects at the false discovery rate `rate`. */
export function discoveries(pValues: readonly number[], rate: number): ReadonlySet<number> {
  const sorted = pValues.map((p, index) => ({ p, index })).toSorted((one, other) => one.p - other.p);
  const last = sorted.findLastIndex(({ p }, rank) => p <= ((rank + 1) / sorted.length) * rate);
  return new Set(sorted.slice(0, last + 1).map(({ index }) => index));
}

/** Probability that a share is above `limit`, after `cases` of `count`: the posterior of a uniform prior, as a normal one. */
export function probabilityAbove(limit: number, cases: number, count: number): number {
  const [a, b] = [cases + 1, count - cases + 1];
  const mean = a / (a + b);
  const deviation = Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
  return normal((mean - limit) / deviation);
}

/** Distribution function of the normal distribution (Abramowitz and Stegun 26.2.17, error below 1e-7). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
  return z >= 0 ? 1 - tail : tail;
}

/** Probability that the mean of the samples is truly above `limit`, by the normal approximation. */
export function meanAbove(limit: number, sums: Sums): number {
  const [count, sum] = sums;
  if (count === 0) return 0;
  const error = Math.sqrt(variance(sums) / count);
  const distance = sum / count - limit;
  return error === 0 ? Number(distance > 0) : normal(distance / error);
}
