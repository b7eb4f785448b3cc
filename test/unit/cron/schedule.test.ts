// Schedules: forms, planned instants over changes of the clock, and errors.
import { expect, test } from "vitest";
import { dueInstant, nextInstant, parseSchedule, type Rule, scheduleText } from "../../../agent-core/cron/schedule.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");
const DAY = 86_400_000;

async function ruleOf(text: string, zone = "Europe/Berlin", now = NOW): Promise<Rule> {
  const parsed = await parseSchedule(text, zone, now);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.rule;
}

async function problemOf(text: string, zone = "Europe/Berlin"): Promise<string | undefined> {
  const parsed = await parseSchedule(text, zone, NOW);
  return parsed.ok ? undefined : parsed.problem;
}

/** Planned instants of the days from `from` on. */
async function instants(rule: Rule, zone: string, from: string, days: number): Promise<string[]> {
  const end = Date.parse(from) + days * DAY;
  const found: string[] = [];
  for (let at = await nextInstant(rule, zone, Date.parse(from)); at !== undefined && at <= end; ) {
    found.push(new Date(at).toISOString());
    at = await nextInstant(rule, zone, at);
  }
  return found;
}

test("a delay runs once, an interval again and again, a time and fields in their zone", async () => {
  expect(await ruleOf("30m")).toEqual({ kind: "at", at: NOW + 30 * 60_000 });
  expect(await ruleOf(" every  2h ")).toEqual({ kind: "every", ms: 2 * 3_600_000, from: NOW });
  expect(await ruleOf("2026-11-24T09:00")).toEqual({ kind: "at", at: Date.parse("2026-11-24T08:00:00Z") });
  expect(await ruleOf("2026-11-24 09:00", "Asia/Tokyo")).toEqual({ kind: "at", at: Date.parse("2026-11-24T00:00Z") });
  expect(await ruleOf("2026-11-24T09:00:30-05:00")).toEqual({ kind: "at", at: Date.parse("2026-11-24T14:00:30Z") });
  expect(await ruleOf("0 9 * * MON-FRI")).toEqual({ kind: "cron", fields: "0 9 * * mon-fri" });
});

test.each([
  ["every monday", "expected 30m (once"],
  ["0 9 * *", "expected 30m (once"],
  ["0 0 9 * * *", "expected 30m (once"],
  ["0m", "expected 1 minute to 366 days"],
  ["every 9000h", "expected 1 minute to 366 days"],
  ["61 * * * *", "Invalid value for minute: 61"],
  ["0 9 31 2 *", "such a day never comes"],
  ["2026-02-30T09:00", "there is no such date"],
  ["2027-13-01T09:00", "there is no such date"],
  ["2026-11-23T12:59", "2026-11-23 12:59 (Europe/Berlin) is past"],
])("the parser refuses %j with its reason", async (text, reason) => {
  const problem = await problemOf(text);
  expect(problem).toContain(JSON.stringify(text));
  expect(problem).toContain(reason);
});

// In spring the instant after the gap is the first one there is; in autumn the first of two equal times counts.
test.each([
  ["Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00.000Z", "2026-03-30T00:30:00.000Z"],
  ["Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"],
  ["America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:00:00.000Z", "2026-03-09T06:30:00.000Z"],
  ["America/New_York", "2026-10-31T12:00:00Z", "2026-11-01T07:30:00.000Z", "2026-11-02T07:30:00.000Z"],
  ["Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-03T15:30:00.000Z", "2026-10-04T15:30:00.000Z"],
  ["Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T16:00:00.000Z", "2026-04-05T16:00:00.000Z"],
])("02:30 in %s runs once a day when the clocks change after %s", async (zone, from, first, second) => {
  expect(await instants(await ruleOf("30 2 * * *", zone), zone, from, 2)).toEqual([first, second]);
});

test("a time that comes twice counts once, in lists of hours too", async () => {
  expect(await instants(await ruleOf("45 1 * * *"), "Australia/Lord_Howe", "2026-04-04T00:00:00Z", 1)).toEqual([
    "2026-04-04T14:45:00.000Z",
  ]);
  const twice = await ruleOf("30 1,2 * * *");
  expect(await instants(twice, "Europe/Berlin", "2026-10-24T12:00:00Z", 1)).toEqual([
    "2026-10-24T23:30:00.000Z",
    "2026-10-25T00:30:00.000Z",
  ]);
});

test("an interval keeps its length when the clocks change", async () => {
  const from = Date.parse("2026-03-29T00:00:00Z");
  const rule = await ruleOf("every 1h", "Europe/Berlin", from);
  expect(await instants(rule, "Europe/Berlin", "2026-03-29T00:00:00Z", 1 / 8)).toEqual([
    "2026-03-29T01:00:00.000Z",
    "2026-03-29T02:00:00.000Z",
    "2026-03-29T03:00:00.000Z",
  ]);
});

test("only the last one of several missed instants is due", async () => {
  const rule = await ruleOf("0 * * * *");
  const since = Date.parse("2026-11-23T12:30:00Z");
  const morning = Date.parse("2026-11-23T21:40:00Z");
  expect(await dueInstant(rule, "Europe/Berlin", since, morning)).toBe(Date.parse("2026-11-23T21:00:00Z"));
  expect(await dueInstant(rule, "Europe/Berlin", Date.parse("2026-11-23T21:00:00Z"), morning)).toBeUndefined();
});

test("an instant is due in its own millisecond", async () => {
  const nine = Date.parse("2026-11-24T08:00:00Z");
  const rule = await ruleOf("0 9 * * *");
  expect(await dueInstant(rule, "Europe/Berlin", nine - 1, nine)).toBe(nine);
  expect(await dueInstant(rule, "Europe/Berlin", nine - DAY, nine - 1)).toBeUndefined();
  expect(await nextInstant(rule, "Europe/Berlin", nine)).toBe(nine + DAY);
});

test("a schedule in words names the time zone", async () => {
  expect(scheduleText(await ruleOf("every 120m"), "Europe/Berlin")).toBe(
    "every 2h from 2026-11-23 13:00 (Europe/Berlin)",
  );
  expect(scheduleText(await ruleOf("0 9 * * *"), "Asia/Tokyo")).toBe("every day at 09:00 (Asia/Tokyo)");
  expect(scheduleText(await ruleOf("5 17 * * 1-5"), "UTC")).toBe("Monday to Friday at 17:05 (UTC)");
  expect(scheduleText(await ruleOf("0 8 * * 0,6"), "UTC")).toBe("Sunday, Saturday at 08:00 (UTC)");
  expect(scheduleText(await ruleOf("*/15 * * * *"), "UTC")).toBe("every 15 minutes (UTC)");
  expect(scheduleText(await ruleOf("30 * * * *"), "UTC")).toBe("every hour at minute 30 (UTC)");
  expect(scheduleText(await ruleOf("0 9 1 * *"), "UTC")).toBe("at 0 9 1 * * (UTC)");
});
