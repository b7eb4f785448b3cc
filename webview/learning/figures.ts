/** Rates, times and amounts of the learning page in words, and the series of its charts. */
import type { HealthReport, Rate } from "../../agent-core/protocol/learning.ts";
import { formatNumber, language, t } from "../texts.ts";

/** Titles of the rates in the order of the page. Another rate shows its name. */
const TITLES: Readonly<Record<string, string>> = {
  task_success_rate: t("Success"),
  avg_feedback_score: t("Feedback"),
  corrections_per_task: t("Corrections a task"),
  tool_error_rate: t("Tool errors"),
  first_token_seconds: t("Time to first token"),
  retry_rate: t("Retries"),
  escalation_rate: t("Escalations"),
  context_overflow_rate: t("Context overflows"),
  compression_rate: t("Compressions"),
  command_timeout_rate: t("Timeouts of commands"),
  refused_permission_rate: t("Refused permissions"),
  skill_success_rate: t("Success with skills"),
  turn_seconds: t("Time per turn"),
  tokens_per_task: t("Tokens a task"),
  usd_per_task: t("Cost a task"),
};

/** Below this number of observations an interval is too wide for a judgement. */
const FEW = 10;

export type Point = Pick<Rate, "value" | "low" | "high" | "n" | "baseline"> & {
  /** Local date, `2026-11-23`. */
  readonly date: string;
  /** Index of the report, oldest first. */
  readonly index: number;
};

/** A rate over the reports. */
export type Series = { readonly name: string; readonly of: string | undefined; readonly points: readonly Point[] };

/** Series of all rates in the order of the page. `reports`: newest first. */
export function seriesOf(reports: readonly HealthReport[]): readonly Series[] {
  const oldestFirst = reports.toReversed();
  const series = new Map<
    string,
    { readonly name: string; readonly of: string | undefined; readonly points: Point[] }
  >();
  const keys = reports.flatMap(({ rates }) => rates);
  for (const { name, of } of keys) {
    const key = `${name} ${of ?? ""}`;
    if (!series.has(key)) series.set(key, { name, of, points: [] });
  }
  oldestFirst.forEach(({ date, rates }, index) => {
    for (const { name, of, ...figures } of rates)
      series.get(`${name} ${of ?? ""}`)?.points.push({ ...figures, date, index });
  });
  const order = Object.keys(TITLES);
  const place = ({ name }: Series): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...series.values()].toSorted((one, other) => place(one) - place(other));
}

export function rateTitle(name: string): string {
  const words = name.replaceAll("_", " ");
  return TITLES[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Shares of 1 are shown in percent. */
export function isShare(name: string): boolean {
  return /_(rate|score)$/.test(name);
}

export function figure(name: string, value: number): string {
  if (name.startsWith("usd_")) return usdText(value);
  if (name.startsWith("tokens_")) return formatNumber(value);
  if (name.endsWith("_seconds")) return t("{0} s", formatNumber(value, 1));
  if (!isShare(name)) return formatNumber(value, 2);
  const percent = value * 100;
  return t("{0} %", percent.toLocaleString(language, { maximumFractionDigits: percent < 10 ? 1 : 0 }));
}

/** `64 to 92 %, n 20`. */
export function intervalText(name: string, { low, high, n }: Pick<Point, "low" | "high" | "n">): string {
  return t("{0} to {1}, n {2}", figure(name, low), figure(name, high), formatNumber(n));
}

/** Comparison with the baseline; undefined without one. */
export function comparison(name: string, { value, low, high, n, baseline }: Point): string | undefined {
  if (n < FEW) return t("too few to tell");
  if (baseline === undefined) return undefined;
  const usual = figure(name, baseline);
  if (baseline >= low && baseline <= high) return t("as usual ({0})", usual);
  return value > baseline ? t("above the usual {0}", usual) : t("below the usual {0}", usual);
}

export function usdText(usd: number): string {
  return usd > 0 && usd < 0.01 ? "<$0.01" : `$${formatNumber(usd, 2)}`;
}

/** `23 Nov`. */
export function dayText(date: string): string {
  return new Date(`${date}T12:00`).toLocaleDateString(language, { day: "numeric", month: "short" });
}

/** `23 Nov, 09:12`. Milliseconds since 1970. */
export function momentText(at: number): string {
  return new Date(at).toLocaleString(language, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
}

/** Days of a report's period. */
export function daysOf({ period: { from, to } }: HealthReport): number {
  return Math.max(1, Math.round((to - from) / 86_400_000));
}
