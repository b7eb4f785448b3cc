/** Stored health reports, `HOME/learning/reports/<date>.json`, and their text for people. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { learningFolder } from "../config/home.ts";
import { readJsonFile } from "../config/home-file.ts";
import { counted } from "../platform/counted.ts";
import { hasCode } from "../platform/errors.ts";
import { HealthReport, type Rate, type Regression } from "../protocol/learning.ts";
import { RATES } from "../sessions/outcome-rates.ts";

const REPORT_FILE = /^\d{4}-\d\d-\d\d\.json$/;

export function reportsFolder(home: string): string {
  return join(learningFolder(home), "reports");
}

/** The newest `count` reports, newest first. A damaged one is left out. Rejects when reading the folder fails. */
export async function readReports(home: string, count: number): Promise<readonly HealthReport[]> {
  const folder = reportsFolder(home);
  const names = await readdir(folder).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  });
  const reports: HealthReport[] = [];
  for (const name of names
    .filter((one) => REPORT_FILE.test(one))
    .sort()
    .reverse()) {
    if (reports.length === count) break;
    const { data } = HealthReport.safeParse(await readJsonFile(join(folder, name)));
    if (data !== undefined) reports.push(data);
  }
  return reports;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });

/** Below this number of observations a figure is no judgement. */
const FEW = 10;
/** Sessions that a regression names. */
const NAMED = 2;

/** The report for people: first what got worse, its meaning and what to do, then the figures without their parts. */
export function reportText({ date, sessions, rates, totals, regressions }: HealthReport): string {
  const { tokens, usd, learningTokens, learningUsd } = totals;
  const overall = rates.filter(({ name, of, value }) => of === undefined && !(name === "usd_per_task" && value === 0));
  return [
    `**Health report of ${DAY.format(new Date(`${date}T12:00`))}**: ${counted(sessions, "session")} in seven days`,
    regressions.length === 0
      ? "Nothing is clearly worse than before."
      : `**Worse than before**\n\n${regressions.map(regressionLine).join("\n")}`,
    ...(overall.length === 0 ? [] : [overall.map(rateLine).join("\n")]),
    `Cost: ${costText(tokens, usd)}. Learning itself: ${costText(learningTokens, learningUsd)}.`,
  ].join("\n\n");
}

/** Tokens without dollars are those of models whose price nobody knows. */
function costText(tokens: number, usd: number): string {
  const dollars = tokens > 0 && usd === 0 ? "price unknown" : `$${usd.toFixed(2)}`;
  return `${tokens.toLocaleString("en")} tokens, ${dollars}`;
}

function rateLine({ name, value, n, baseline }: Rate): string {
  const usual = baseline === undefined ? "" : `, usually ${figure(name, baseline)}`;
  return `- ${plainText(rateTitle(name, undefined))}: ${figure(name, value)} (${counted(n, "case")}${n < FEW ? ", too few to tell" : usual})`;
}

/** `tool error rate of terminal: 3.0% → 25.0%`. */
export function changeText({ rate, of, before, now }: Regression): string {
  return `${rateTitle(rate, of)}: ${figure(rate, before)} → ${figure(rate, now)}`;
}

function regressionLine(regression: Regression): string {
  const { rate, n, sessions } = regression;
  const named = sessions.slice(0, NAMED).map((id) => `\`${id}\``);
  const seen = named.length === 0 ? "" : ` It shows in ${named.join(" and ")}: open one and ask Hermes for the cause.`;
  const meaning = Object.entries(RATES).find(([name]) => name === rate)?.[1].sentence;
  const change = `${plainText(changeText(regression))} in ${counted(n, "case")}`;
  return `- ${change}.${meaning === undefined ? "" : ` ${meaning}`}${seen}`;
}

/** `tool error rate of terminal`. */
function rateTitle(name: string, of: string | undefined): string {
  return `${name.replaceAll("_", " ")}${of === undefined ? "" : ` of ${of}`}`;
}

/** Rates and scores are shares of 1; other figures are numbers. */
function figure(name: string, value: number): string {
  return /_(rate|score)$/.test(name)
    ? `${(value * 100).toFixed(1)}%`
    : value.toLocaleString("en", { maximumFractionDigits: 2 });
}

/** `text` on one line, without effects of Markdown: the model or a tool may have written it. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]<>|#~!]/g, "\\$&");
}
