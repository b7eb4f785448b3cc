/** The report of a run as Markdown: figures by arm, the effect of each loop, what must not move, and the curve by day. */
import { type Interval, mean } from "./bootstrap.ts";
import { checksOf } from "./checks.ts";
import { METRICS, type Metric, Results, windowDays } from "./results.ts";
import type { ArmRun } from "./run-arm.ts";

export function reportOf(
  runs: readonly ArmRun[],
  facts: { readonly days: number; readonly tasks: number; readonly salt: string },
): string {
  const results = new Results(runs, facts.days);
  const seeds = new Set(runs.map(({ seed }) => seed)).size;
  const window = windowDays(facts.days);
  const title = `${facts.days} days × ${seeds} seeds × ${facts.tasks} tasks and 2 of noise a day; days 1–${window} → the last ${window}; salt ${facts.salt}`;
  return [
    `# Learning over ${facts.days} days`,
    title,
    "## By arm (number of seeds)",
    armTable(results),
    "## Effect of each switch on the last days",
    "Mean of `on` less mean of the arm, with the paired 95 % interval.",
    effectTable(results),
    "## Checks",
    checkTable(results),
    "## Region of the request that held a right need",
    regionTable(results),
    "## Curve by day",
    "Share of tasks with a need that are right at once; one sign a day, from ▁ (0) to █ (all).",
    curves(results),
    unknownRequests(runs),
  ].join("\n\n");
}

function shown({ mean: value, low, high }: Interval, unit: string): string {
  if (Number.isNaN(value)) return "–";
  const text = (number: number): string =>
    Math.abs(number) >= 20 ? number.toFixed(0) : number.toFixed(unit === "%" ? 0 : 2);
  return `${text(value)} [${text(low)}, ${text(high)}]`;
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** An arm with the number of its seeds. */
function headOf(results: Results, arm: string): string {
  return `${arm} (${results.seedsOf(arm)})`;
}

function armTable(results: Results): string {
  const metrics = Object.values<Metric>(METRICS);
  return tableOf(
    ["measure", "n", ...results.arms.map((arm) => headOf(results, arm))],
    metrics.map((metric) => [
      metric.name + (metric.unit === "" ? "" : `, ${metric.unit}`),
      String(results.late(results.arms[0] ?? "", metric).n),
      ...results.arms.map((arm) => {
        const early = results.early(arm, metric).mean;
        const before = Number.isNaN(early) ? "–" : early.toFixed(early >= 20 ? 0 : 1);
        return `${before} → ${shown(results.late(arm, metric), metric.unit)}`;
      }),
    ]),
  );
}

function effectTable(results: Results): string {
  const others = results.arms.filter((arm) => arm !== "on");
  if (!results.arms.includes("on") || others.length === 0) return "The arm `on` did not run.";
  return tableOf(
    ["measure", ...others.map((arm) => headOf(results, arm))],
    Object.values<Metric>(METRICS).map((metric) => [
      metric.name,
      ...others.map((arm) => shown(results.effect("on", arm, metric), metric.unit)),
    ]),
  );
}

function checkTable(results: Results): string {
  const rows = checksOf(results).map(({ name, measured, wanted, ok }) => [
    ok ? "green" : "RED",
    name,
    measured,
    wanted,
  ]);
  return tableOf(["", "check", "measured", "wanted"], rows);
}

function regionTable(results: Results): string {
  const counts = new Map<string, Map<string, number>>();
  for (const { arm, tasks } of results.runs) {
    for (const region of tasks.flatMap(({ right }) => right)) {
      const row = counts.get(region) ?? new Map<string, number>();
      row.set(arm, (row.get(arm) ?? 0) + 1);
      counts.set(region, row);
    }
  }
  const rows = [...counts].map(([region, row]) => [region, ...results.arms.map((arm) => String(row.get(arm) ?? 0))]);
  return tableOf(["region", ...results.arms], rows);
}

const LEVELS = "▁▂▃▄▅▆▇█";

function curves(results: Results): string {
  const days = Array.from({ length: results.days }, (_, index) => index + 1);
  const lines = results.arms.map((arm) => {
    const tasks = results.runsOf(arm).flatMap((run) => run.tasks.filter(({ kind }) => kind !== "noise"));
    const signs = days.map((day) => {
      const share = mean(tasks.filter((task) => task.day === day).map(({ firstTry: isFirst }) => (isFirst ? 1 : 0)));
      return Number.isNaN(share) ? " " : (LEVELS[Math.round(share * (LEVELS.length - 1))] ?? " ");
    });
    return `${arm.padEnd(20)} ${signs.join("")}`;
  });
  return ["```", ...lines, "```"].join("\n");
}

function unknownRequests(runs: readonly ArmRun[]): string {
  const unknown = [...new Set(runs.flatMap(({ unknownRequests: texts }) => texts))];
  const milliseconds = mean(runs.map((run) => run.milliseconds / run.days.length));
  const time = `${Math.round(milliseconds)} ms a day of an arm.`;
  return unknown.length === 0 ? time : `${time} Requests that the model did not understand: ${unknown.join(" · ")}`;
}
