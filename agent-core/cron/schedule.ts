/**
 * Schedules of jobs: a delay, an interval, five cron fields, or one instant. Every planned instant is computed from the rule
 * and its time zone, so that neither a restart nor the change to daylight saving time moves it.
 */
import type { Cron } from "croner";
import { messageOf } from "../platform/errors.ts";

/** Milliseconds since 1970 in all rules. */
export type Rule =
  | { readonly kind: "at"; readonly at: number }
  /** The first run is one interval after `from`. */
  | { readonly kind: "every"; readonly ms: number; readonly from: number }
  | { readonly kind: "cron"; readonly fields: string };

export type ParsedSchedule =
  | { readonly ok: true; readonly rule: Rule }
  | { readonly ok: false; readonly problem: string };

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** Delays and intervals beyond a year are typing errors. */
const MAX_MS = 366 * UNIT_MS.d;

const DELAY = /^(\d{1,6}) ?(m|h|d)$/;
const INTERVAL = /^every (\d{1,6}) ?(m|h|d)$/;
const TIME = /^(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d)(:\d\d)?(?:\.\d+)?(z|[+-]\d\d:\d\d)?$/;

const FORMS = "30m (once, after this time), every 2h, five cron fields (0 9 * * 1-5), or a time (2026-11-24T09:00)";

export function machineZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Reads a schedule. `zone`: IANA name, for cron fields and for times without an offset. */
export async function parseSchedule(text: string, zone: string, now: number): Promise<ParsedSchedule> {
  const written = text.trim().toLowerCase().replaceAll(/\s+/g, " ");
  const delay = lengthOf(DELAY, written);
  const interval = lengthOf(INTERVAL, written);
  const length = delay ?? interval;
  if (length !== undefined && (length <= 0 || length > MAX_MS)) {
    return { ok: false, problem: `schedule ${JSON.stringify(text)}: expected 1 minute to 366 days` };
  }
  if (delay !== undefined) return { ok: true, rule: { kind: "at", at: now + delay } };
  if (interval !== undefined) return { ok: true, rule: { kind: "every", ms: interval, from: now } };
  if (TIME.test(written)) return parseTime(text, written, { zone, now });
  if (written.split(" ").length !== 5) {
    return { ok: false, problem: `schedule ${JSON.stringify(text)}: expected ${FORMS}` };
  }
  return parseFields(text, written, { zone, now });
}

type Moment = { readonly zone: string; readonly now: number };

async function parseTime(text: string, written: string, { zone, now }: Moment): Promise<ParsedSchedule> {
  const [, date = "", time = "", seconds = ":00", offset] = TIME.exec(written) ?? [];
  const wallClock = `${date}T${time}${seconds}`;
  const utc = Date.parse(`${wallClock}Z`);
  // A date such as February 30 would silently become a day of March.
  const isReal = Number.isFinite(utc) && new Date(utc).toISOString().startsWith(wallClock);
  if (!isReal) return { ok: false, problem: `schedule ${JSON.stringify(text)}: there is no such date or time` };
  const at =
    offset === undefined ? (await cronOf(wallClock, zone)).getOnce()?.getTime() : Date.parse(wallClock + offset);
  if (at === undefined || !Number.isFinite(at)) {
    return { ok: false, problem: `schedule ${JSON.stringify(text)}: the time cannot be read` };
  }
  if (at <= now) return { ok: false, problem: `schedule ${JSON.stringify(text)}: ${instantText(at, zone)} is past` };
  return { ok: true, rule: { kind: "at", at } };
}

async function parseFields(text: string, written: string, { zone, now }: Moment): Promise<ParsedSchedule> {
  try {
    if ((await cronOf(written, zone)).nextRun(new Date(now)) !== null) {
      return { ok: true, rule: { kind: "cron", fields: written } };
    }
    return { ok: false, problem: `schedule ${JSON.stringify(text)}: such a day never comes` };
  } catch (error) {
    const reason = messageOf(error).replace(/^CronPattern: /, "");
    return { ok: false, problem: `schedule ${JSON.stringify(text)}: ${reason}` };
  }
}

function lengthOf(pattern: RegExp, text: string): number | undefined {
  const [, count, unit] = pattern.exec(text) ?? [];
  return unit === "m" || unit === "h" || unit === "d" ? Number(count) * UNIT_MS[unit] : undefined;
}

/** The last planned instant after `after` and not after `now`: earlier ones that were missed are not run one by one. */
export async function dueInstant(rule: Rule, zone: string, after: number, now: number): Promise<number | undefined> {
  const last = await lastInstant(rule, zone, now);
  return last !== undefined && last > after ? last : undefined;
}

async function lastInstant(rule: Rule, zone: string, now: number): Promise<number | undefined> {
  switch (rule.kind) {
    case "at":
      return rule.at <= now ? rule.at : undefined;
    case "every": {
      const count = Math.floor((now - rule.from) / rule.ms);
      return count < 1 ? undefined : rule.from + count * rule.ms;
    }
    case "cron":
      // The library gives runs before its argument, and one of this very moment is due.
      return (await cronOf(rule.fields, zone)).previousRuns(1, new Date(now + 1))[0]?.getTime();
  }
}

/** The first planned instant after `after`; undefined when there is none. */
export async function nextInstant(rule: Rule, zone: string, after: number): Promise<number | undefined> {
  switch (rule.kind) {
    case "at":
      return rule.at > after ? rule.at : undefined;
    case "every":
      return rule.from + Math.max(1, Math.floor((after - rule.from) / rule.ms) + 1) * rule.ms;
    case "cron":
      return (await cronOf(rule.fields, zone)).nextRun(new Date(after))?.getTime();
  }
}

/** The schedule in words, with its time zone. */
export function scheduleText(rule: Rule, zone: string): string {
  switch (rule.kind) {
    case "at":
      return `once at ${instantText(rule.at, zone)}`;
    case "every":
      return `every ${lengthText(rule.ms)} from ${instantText(rule.from, zone)}`;
    case "cron":
      return `${fieldsText(rule.fields)} (${zone})`;
  }
}

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;

/** Usual forms of cron fields in words; others as they are. */
function fieldsText(fields: string): string {
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields.split(" ");
  const [, step] = /^\*\/(\d+)$/.exec(minute) ?? [];
  if (step !== undefined && [hour, day, month, weekday].every((field) => field === "*")) return `every ${step} minutes`;
  const days = month === "*" && day === "*" ? weekdaysText(weekday) : undefined;
  if (!/^\d{1,2}$/.test(minute) || days === undefined) return `at ${fields}`;
  if (hour === "*" && weekday === "*") return `every hour at minute ${minute}`;
  if (!/^\d{1,2}$/.test(hour)) return `at ${fields}`;
  return `${days} at ${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
}

function weekdaysText(field: string): string | undefined {
  if (field === "*") return "every day";
  const [, from, to] = /^([0-7])-([0-7])$/.exec(field) ?? [];
  if (from !== undefined) return `${DAYS[Number(from)]} to ${DAYS[Number(to)]}`;
  return /^[0-7](?:,[0-7])*$/.test(field)
    ? field
        .split(",")
        .map((day) => DAYS[Number(day)])
        .join(", ")
    : undefined;
}

function lengthText(ms: number): string {
  const unit = (["d", "h"] as const).find((each) => ms % UNIT_MS[each] === 0) ?? "m";
  return `${ms / UNIT_MS[unit]}${unit}`;
}

/** Wall clock time with its time zone: `2026-11-24 09:00 (Europe/Berlin)`. */
export function instantText(at: number, zone: string): string {
  // The Swedish format of a date is ISO's.
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  return `${format.format(at)} (${zone})`;
}

/** Lists and ranges of hours count as fixed times: each runs once on a day whose clocks change. */
async function cronOf(pattern: string, timezone: string): Promise<Cron> {
  const { Cron: Pattern } = await import("croner");
  const isTime = pattern.includes("T");
  return new Pattern(pattern, { timezone, ...(!isTime && { mode: "5-part" }), fixedTimeRule: "no-wildcard" });
}
