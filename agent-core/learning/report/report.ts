/**
 * The loop that reports on the agent's work: once a day the rates of the last week against a moving baseline, and what got worse
 * in which sessions. It costs no model call.
 */
import { join } from "node:path";
import * as z from "zod";
import { learningFolder } from "../../config/home.ts";
import { readJsonFile, replaceFile, writeJsonFile } from "../../config/home-file.ts";
import { dayAfter, localDate } from "../../platform/clock.ts";
import { counted } from "../../platform/counted.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import type { HealthReport } from "../../protocol/learning.ts";
import type { DayWindow } from "../../sessions/index/outcome-sums.ts";
import { RATES } from "../../sessions/outcome-rates.ts";
import { DailyBudget } from "../daily-budget.ts";
import type { Loop, LoopPorts } from "../loop.ts";
import { readReports, reportsFolder, reportText } from "../stored-reports.ts";
import { ratesOf, regressionsOf } from "./regressions.ts";

/** Days of the period, and of the baseline before it. */
const PERIOD_DAYS = 7;
const BASELINE_DAYS = 28;

const baselineSchema = z.object({
  /** Days whose report named a regression: they are not part of a baseline. */
  flagged: z.array(z.string()),
});

/** Without a limit: the report only reads the spending. */
const NO_LIMITS = { tokens: Number.POSITIVE_INFINITY, usd: Number.POSITIVE_INFINITY };

export function report(ports: LoopPorts): Promise<Loop> {
  return Promise.resolve({
    work: {
      loop: "report",
      async doNext(signal) {
        await makeReport(ports, signal);
        return false;
      },
    },
    store: { items: async () => [], act: async () => undefined }, // a report is no item
    async lastRun() {
      const [last] = await readReports(ports.home, 1);
      return last && { at: last.period.to, result: resultOf(last) };
    },
  });
}

/** Writes the report of today, and replaces an earlier one. Without a session in the period it writes nothing. */
async function makeReport(ports: LoopPorts, signal: AbortSignal): Promise<void> {
  const { home, clock, index } = ports;
  const today = localDate(clock.now());
  const flagged = await flaggedDays(home);
  const windows = windowsAt(today, flagged);
  const { value, building } = await index.ask("outcomes", [windows.period, windows.recent, windows.baseline]);
  signal.throwIfAborted();
  // An index that is being built lacks sessions: the next look finds them.
  if (building !== undefined) throw new Error("the session index is still being built");
  const [period, recent, baseline] = value;
  if (period === undefined || recent === undefined || baseline === undefined || period.sessions === 0) return;
  const regressions = regressionsOf({ recent: recent.rates, period: period.rates, baseline: baseline.rates });
  const made: HealthReport = {
    date: today,
    period: { from: Date.parse(`${windows.period.from}T00:00`), to: clock.now() },
    sessions: period.sessions,
    rates: ratesOf(period.rates, baseline.rates),
    totals: { tokens: period.tokens, usd: period.usd, ...(await learningCost(home, windows.period, ports)) },
    regressions,
  };
  const [before] = await readReports(home, 1);
  await store(home, made, { flagged, today, since: windows.baseline.from });
  notify(ports, made, before);
}

type Windows = { readonly period: DayWindow; readonly recent: DayWindow; readonly baseline: DayWindow };

function windowsAt(today: string, flagged: readonly string[]): Windows {
  const begin = dayAfter(today, 1 - PERIOD_DAYS);
  return {
    period: { from: begin, to: today },
    recent: { from: dayAfter(today, -1), to: today },
    baseline: { from: dayAfter(begin, -BASELINE_DAYS), to: dayAfter(begin, -1), without: flagged },
  };
}

async function flaggedDays(home: string): Promise<readonly string[]> {
  return baselineSchema.safeParse(await readJsonFile(baselineFile(home))).data?.flagged ?? [];
}

function baselineFile(home: string): string {
  return join(learningFolder(home), "baseline.json");
}

async function learningCost(home: string, { from, to }: DayWindow, { clock }: LoopPorts) {
  const days = (await new DailyBudget(home, NO_LIMITS, clock).history()).filter(({ day }) => day >= from && day <= to);
  return {
    learningTokens: days.reduce((sum, { tokens }) => sum + tokens, 0),
    learningUsd: days.reduce((sum, { usd }) => sum + usd, 0),
  };
}

/** `since`: first day of the baseline. */
type Compared = { readonly flagged: readonly string[]; readonly today: string; readonly since: string };

/** Each file is replaced as a whole, so that a run that was killed is repeated without harm. */
async function store(home: string, made: HealthReport, { flagged, today, since }: Compared): Promise<void> {
  const folder = reportsFolder(home);
  makeFolder(folder, 0o700);
  const others = flagged.filter((day) => day !== today);
  const days = made.regressions.length > 0 ? [...others, today] : others;
  await writeJsonFile(baselineFile(home), { flagged: days.filter((day) => day >= since) });
  await replaceFile(join(folder, `${made.date}.md`), `${reportText(made)}\n\n${definitions()}\n`);
  await writeJsonFile(join(folder, `${made.date}.json`), made);
}

function definitions(): string {
  const rows = Object.entries(RATES).map(([name, { sentence }]) => `| ${name.replaceAll("_", " ")} | ${sentence} |`);
  return [
    "**Definitions**: a task is the work of one session on one day.",
    ["| Rate | Meaning |", "|---|---|", ...rows].join("\n"),
  ].join("\n\n");
}

/** Announces the regressions that the report before did not name. */
function notify(ports: LoopPorts, { regressions }: HealthReport, before: HealthReport | undefined): void {
  const known = new Set(before?.regressions.map(({ rate, of }) => `${rate} ${of}`));
  const added = regressions.filter(({ rate, of }) => !known.has(`${rate} ${of}`));
  ports.notify(added.length === 0 ? undefined : `Health report: ${added.map(regressionText).join("; ")}.`, []);
}

function regressionText({ rate, of, before, now }: HealthReport["regressions"][number]): string {
  const figure = (value: number): string =>
    /_(rate|score)$/.test(rate) ? `${Math.round(value * 100)} %` : value.toFixed(1);
  return `${rate.replaceAll("_", " ")}${of === undefined ? "" : ` of ${of}`} ${figure(before)} → ${figure(now)}`;
}

function resultOf({ sessions, regressions }: HealthReport): string {
  return `${counted(sessions, "session")}: ${counted(regressions.length, "regression")}.`;
}
