/** Durations, counts, prices and dates for display. */
import { formatNumber, language, t } from "../texts.ts";

const DAY_MS = 86_400_000;

/** Shorter calls show no duration. */
export const SHOWN_DURATION_MS = 1_000;

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 5 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 9_950) return t("{0} s", formatNumber(milliseconds / 1_000, 1));
  // Rounded first: 119.7 s are 2 min 0 s, not 1 min 60 s.
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 60) return t("{0} s", seconds);
  if (seconds >= 3_600) return t("{0} h {1} min", Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60));
  return t("{0} min {1} s", Math.floor(seconds / 60), seconds % 60);
}

/** Line about a wait before a retry. `isOver`: other entries follow, or the turn has ended. `now`: clock, milliseconds. */
export function retryLine({ reason, until, delayMs, waitedMs }: RetryTimes, isOver: boolean, now: number): string {
  if (isOver) return t("{0} Waited {1}.", reason, wholeSeconds(waitedMs + delayMs));
  const left = until - now;
  const next = left > 0 ? t("Next try in {0}.", wholeSeconds(left)) : t("Trying again.");
  const waited = waitedMs + Math.min(delayMs, delayMs - left);
  return waited < 1_000 ? `${reason} ${next}` : t("{0} {1} Waited {2} so far.", reason, next, wholeSeconds(waited));
}

type RetryTimes = {
  readonly reason: string;
  readonly until: number;
  readonly delayMs: number;
  readonly waitedMs: number;
};

function wholeSeconds(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 60 ? t("{0} s", seconds) : formatDuration(seconds * 1_000);
}

/** `850`, `12k`, `1.2M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 999_500) return `${Math.round(count / 1_000)}k`;
  return `${formatNumber(count / 1_000_000, 1)}M`;
}

/** A price as `$0.12` or `<$0.01`; undefined when it is unknown or zero. */
export function formatCost(usd: number | undefined): string | undefined {
  if (usd === undefined || usd <= 0) return undefined;
  return usd < 0.01 ? `<$${formatNumber(0.01, 2)}` : `$${formatNumber(usd, 2)}`;
}

/** Heading of a day in the list of sessions. Times in milliseconds since 1970. */
export function dayHeading(at: number, now: number): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
  if (days <= 0) return t("Today");
  if (days === 1) return t("Yesterday");
  if (days < 7) return t("This week");
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString(language, { month: "long", ...(!isThisYear && { year: "numeric" }) });
}

/** Time of day for today, else the date. */
export function shortTime(at: number, now: number): string {
  const date = new Date(at);
  if (startOfDay(at) === startOfDay(now)) {
    return date.toLocaleTimeString(language, { hour: "numeric", minute: "2-digit" });
  }
  return date.toLocaleDateString(language, { day: "numeric", month: "short" });
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
