/** Stored health reports, `HOME/learning/reports/<date>.json`, and their text for people. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { learningFolder } from "../config/home.ts";
import { readJsonFile } from "../config/home-file.ts";
import { hasCode } from "../platform/errors.ts";
import { HealthReport, type Rate, type Regression } from "../protocol/learning.ts";

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

/** The report in Markdown. */
export function reportText(report: HealthReport): string {
  const { date, sessions, rates, totals, regressions } = report;
  const { tokens, usd, learningTokens, learningUsd } = totals;
  const cost = `${costText(tokens, usd)}. Learning itself: ${costText(learningTokens, learningUsd)}.`;
  return [
    `**Health report of ${date}**, ${sessions} ${sessions === 1 ? "session" : "sessions"}`,
    ...(rates.length === 0 ? ["There are no figures yet."] : [rateTable(rates)]),
    `Cost: ${cost}`,
    ...(regressions.length === 0 ? [] : [`**Worse than before**\n\n${regressions.map(regressionLine).join("\n")}`]),
  ].join("\n\n");
}

/** Tokens without dollars are those of models whose price nobody knows. */
function costText(tokens: number, usd: number): string {
  const dollars = tokens > 0 && usd === 0 ? "price unknown" : `$${usd.toFixed(2)}`;
  return `${tokens.toLocaleString("en")} tokens, ${dollars}`;
}

/** Leaves out a part that is the whole, such as the only model, and dollars of models without a known price. */
function shownRates(rates: readonly Rate[]): readonly Rate[] {
  const whole = new Map(rates.flatMap(({ name, of, n }) => (of === undefined ? [[name, n] as const] : [])));
  return rates.filter(
    ({ name, of, n, value }) =>
      (of === undefined || whole.get(name) !== n) && !(name === "usd_per_task" && value === 0),
  );
}

function rateTable(rates: readonly Rate[]): string {
  const rows = shownRates(rates).map(({ name, of, value, n, baseline }) =>
    [rateTitle(name, of), figure(name, value), String(n), baseline === undefined ? "–" : figure(name, baseline)].join(
      " | ",
    ),
  );
  return ["| Rate | Value | n | Baseline |", "|---|---|---|---|", ...rows.map((row) => `| ${row} |`)].join("\n");
}

function regressionLine({ rate, of, before, now, n, sessions }: Regression): string {
  const seen = sessions.length === 0 ? "" : `; sessions ${sessions.map((id) => `\`${id}\``).join(", ")}`;
  return `- ${rateTitle(rate, of)}: ${figure(rate, before)} → ${figure(rate, now)} (n ${n}${seen})`;
}

/** `tool error rate of terminal`. */
function rateTitle(name: string, of: string | undefined): string {
  const words = plainText(name.replaceAll("_", " "));
  return of === undefined ? words : `${words} of ${plainText(of)}`;
}

/** Rates and scores are shares of 1; other figures are numbers. */
function figure(name: string, value: number): string {
  return /_(rate|score)$/.test(name)
    ? `${(value * 100).toFixed(1)} %`
    : value.toLocaleString("en", { maximumFractionDigits: 2 });
}

/** `text` on one line, without effects of Markdown: the model or a tool may have written it. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]<>|#~!]/g, "\\$&");
}
