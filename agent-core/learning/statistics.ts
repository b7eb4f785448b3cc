/** Confidence intervals of shares and means. */
import type { Sums } from "../sessions/session-outcomes.ts";

/** Standard deviations of a 95% interval. */
const Z95 = 1.959964;
/** Of a 99% interval: a report compares some 20 rates, and chance alone should part few of them. */
const Z99 = 2.575829;

/** Wilson interval of a mean from 0 to 1 over `count` samples; from 0 to 1 without samples. */
export function wilson(mean: number, count: number, z = Z95): { readonly low: number; readonly high: number } {
  if (count === 0) return { low: 0, high: 1 };
  const square = z * z;
  const centre = (mean + square / (2 * count)) / (1 + square / count);
  const half = (z / (1 + square / count)) * Math.sqrt((mean * (1 - mean)) / count + square / (4 * count * count));
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** 99% interval of the samples' mean: Wilson's for shares, the normal one for other means. At least one sample. */
export function interval([count, sum, squares]: Sums, kind: "share" | "mean") {
  const value = sum / count;
  if (kind === "share") return wilson(value, count, Z99);
  const variance = count < 2 ? 0 : Math.max(0, (squares - (sum * sum) / count) / (count - 1));
  const half = Z99 * Math.sqrt(variance / count);
  return { low: Math.max(0, value - half), high: value + half };
}
