/** Values of options: numbers with their ranges, and times. */
import { UsageError } from "../agent-core/platform/errors.ts";

type Range = { readonly min?: number; readonly isWhole?: boolean };

/** Throws a UsageError for a number that is too small or not whole. */
export function numberOf<Value extends number | undefined>(name: string, value: Value, range: Range = {}): Value {
  const { min = 0, isWhole = true } = range;
  if (value === undefined || (value >= min && (!isWhole || Number.isInteger(value)))) return value;
  throw new UsageError(`--${name} is ${value}. Give a ${isWhole ? "whole " : ""}number from ${min} on.`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds of a time such as `90s`, `30m` or `2h`; a number alone means seconds. Throws a UsageError. */
export function durationOf(name: string, value: string): number {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(value) ?? [];
  if (amount !== undefined) return Number(amount) * (UNITS[unit] ?? 1);
  throw new UsageError(`--${name} is ${JSON.stringify(value)}. Give a time such as 90s, 30m or 2h.`);
}
