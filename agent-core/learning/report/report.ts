/**
 * The loop that reports on the agent's work: once a day the rates of the last week against a moving baseline, and what got worse
 * in which sessions. It costs no model call.
 */
import { join } from "node:path";
import { writeJsonFile } from "../../config/home-file.ts";
import { dayAfter, localDate } from "../../platform/clock.ts";
import { counted } from "../../platform/counted.ts";
import { makeFolder } from "../../platform/make-folder.ts";
import type { HealthReport } from "../../protocol/learning.ts";
import type { DayWindow } from "../../sessions/index/outcome-sums.ts";
import { DailyBudget } from "../daily-budget.ts";
import type { Loop, LoopPorts } from "../loop.ts";
import { changeText, readReports, reportsFolder } from "../stored-reports.ts";
import { ratesOf, regressionsOf } from "./regressions.ts";

/** Days of the period, and of the baseline before it. */
const PERIOD_DAYS = 7;
const BASELINE_DAYS = 28;

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
      if (last === undefined) return undefined;
      const { sessions, regressions, period } = last;
      return {
        at: period.to,
        result: `${counted(sessions, "session")}: ${counted(regressions.length, "regression")}.`,
      };
    },
  });
}

/** Writes the report of today, and replaces an earlier one. Without a session in the period it writes nothing. */
async function makeReport(ports: LoopPorts, signal: AbortSignal): Promise<void> {
  const { home, clock, index } = ports;
  const today = localDate(clock.now());
  const earlier = (await readReports(home, PERIOD_DAYS + BASELINE_DAYS)).filter(({ date }) => date !== today);
  // Days with a regression are not part of a baseline.
  const flagged = earlier.flatMap(({ date, regressions }) => (regressions.length > 0 ? [date] : []));
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
  makeFolder(reportsFolder(home), 0o700);
  // The whole file is replaced, so that a run that was killed is repeated without harm.
  await writeJsonFile(join(reportsFolder(home), `${today}.json`), made);
  notify(ports, made, before);
}

function windowsAt(today: string, flagged: readonly string[]) {
  const begin = dayAfter(today, 1 - PERIOD_DAYS);
  return {
    period: { from: begin, to: today },
    recent: { from: dayAfter(today, -1), to: today },
    baseline: { from: dayAfter(begin, -BASELINE_DAYS), to: dayAfter(begin, -1), without: flagged },
  };
}

async function learningCost(home: string, { from, to }: DayWindow, { clock }: LoopPorts) {
  const days = (await new DailyBudget(home, NO_LIMITS, clock).history()).filter(({ day }) => day >= from && day <= to);
  return {
    learningTokens: days.reduce((sum, { tokens }) => sum + tokens, 0),
    learningUsd: days.reduce((sum, { usd }) => sum + usd, 0),
  };
}

/** Announces the regressions that the report before did not name. */
function notify(ports: LoopPorts, { regressions }: HealthReport, before: HealthReport | undefined): void {
  const known = new Set(before?.regressions.map(({ rate, of }) => `${rate} ${of}`));
  const added = regressions.filter(({ rate, of }) => !known.has(`${rate} ${of}`));
  ports.notify(added.length === 0 ? undefined : `Health report: ${added.map(changeText).join("; ")}.`, []);
}
