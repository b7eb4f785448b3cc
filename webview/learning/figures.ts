/** Rates, times and amounts of the learning page in words. */
import type { HealthReport } from "../../agent-core/protocol/learning.ts";
import { formatNumber, language, t } from "../texts.ts";

/** Titles of the rates. Another rate shows its name. */
const TITLES: Readonly<Record<string, string>> = {
  task_success_rate: t("Success"),
  avg_feedback_score: t("Feedback"),
  corrections_per_task: t("Corrections a task"),
  tool_error_rate: t("Tool errors"),
  first_token_seconds: t("Time to first token"),
  retry_rate: t("Retries"),
  escalation_rate: t("Escalations"),
  context_overflow_rate: t("Context overflows"),
  refused_permission_rate: t("Refused permissions"),
  skill_success_rate: t("Success with skills"),
  turn_seconds: t("Time per turn"),
  tokens_per_task: t("Tokens a task"),
  usd_per_task: t("Cost a task"),
};

export function rateTitle(name: string): string {
  const words = name.replaceAll("_", " ");
  return TITLES[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

export function figure(name: string, value: number): string {
  if (name.startsWith("usd_")) return usdText(value);
  if (name.startsWith("tokens_")) return formatNumber(value);
  if (name.endsWith("_seconds")) return t("{0} s", formatNumber(value, 1));
  const isShare = /_(rate|score)$/.test(name);
  if (!isShare) return formatNumber(value, 2);
  return value.toLocaleString(language, { style: "percent", maximumFractionDigits: value < 0.1 ? 1 : 0 });
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

export function daysOf({ period: { from, to } }: HealthReport): number {
  return Math.max(1, Math.round((to - from) / 86_400_000));
}
