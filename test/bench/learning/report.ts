/** Arms of the trial, and its report as a table. */
import { interval, mean, type Sample } from "./bootstrap.ts";
import type { Arm, ArmRun, TaskRecord } from "./run-arm.ts";

const ALL = { enabled: true, consolidation: true, distillation: true, report: true, use: true };
const NONE = { enabled: false, consolidation: false, distillation: false, report: false, use: false };

function arm(name: string, changes: Partial<Omit<Arm, "name">> = {}): Arm {
  return { name, learning: ALL, memory: true, obedience: 1, world: "recurring", ...changes };
}

export const ARMS: readonly Arm[] = [
  arm("on"),
  arm("off", { learning: NONE, memory: false }),
  arm("half", { obedience: 0.5 }),
  arm("quarter", { obedience: 0.25 }),
  arm("lazy", { obedience: 0 }),
  arm("notes", { learning: NONE }),
  arm("no-consolidation", { learning: { ...ALL, consolidation: false } }),
  arm("no-distillation", { learning: { ...ALL, distillation: false } }),
  arm("shuffled", { world: "shuffled" }),
  arm("shuffled-off", { world: "shuffled", learning: NONE, memory: false }),
  arm("flipping", { world: "flipping" }),
  arm("flipping-off", { world: "flipping", learning: NONE, memory: false }),
  arm("obvious", { world: "obvious" }),
  arm("obvious-off", { world: "obvious", learning: NONE, memory: false }),
];

/** Throws an Error that names the known arms. */
export function armNamed(name: string): Arm {
  const found = ARMS.find((known) => known.name === name);
  if (found !== undefined) return found;
  throw new Error(`No arm is named ${name}. There are ${ARMS.map((known) => known.name).join(", ")}.`);
}

/** Days that count: after the changes of the world. */
const LAST_DAYS = 5;

type Row = { readonly name: string; measure(task: TaskRecord): number | undefined };

const percent = (is: boolean): number => (is ? 100 : 0);
const ROWS: readonly Row[] = [
  { name: "right at once, %", measure: ({ firstTry }) => percent(firstTry) },
  ...(["prefix", "header", "folder", "suite", "port", "release"] as const).map(
    (topic): Row => ({
      name: `… ${topic}`,
      measure: (task) => (task.topic === topic ? percent(task.firstTry) : undefined),
    }),
  ),
  {
    name: "right at once of what was stated before, %",
    measure: ({ isTold, firstTry }) => (isTold === true ? percent(firstTry) : undefined),
  },
  ...(["unstated", "absent", "contested", "unheeded"] as const).map(
    (kind): Row => ({ name: `lost: ${kind}, %`, measure: ({ loss }) => percent(loss === kind) }),
  ),
  { name: "corrections a task", measure: ({ corrections }) => corrections },
  { name: "misled by a learnt line, %", measure: ({ misled }) => percent(misled === "learnt") },
  { name: "misled by the skill that a person added, %", measure: ({ misled }) => percent(misled === "skill") },
  ...(["true", "outdated", "foreign", "invented", "injected", "aside"] as const).map(
    (kind): Row => ({ name: `lines in a request: ${kind}`, measure: ({ lines }) => lines[kind] }),
  ),
  {
    name: "stated values that a request lacks, %",
    measure: ({ stated, lost }) => (stated === 0 ? undefined : (100 * lost) / stated),
  },
  { name: "hostile commands run", measure: ({ injected }) => injected },
  { name: "tokens a task", measure: ({ tokens }) => tokens },
];

function sampleOf(runs: readonly ArmRun[], { measure }: Row): Sample {
  return new Map(
    runs.map(({ seed, tasks }) => {
      const last = Math.max(...tasks.map(({ day }) => day)) - LAST_DAYS;
      return [seed, tasks.filter(({ day }) => day > last).flatMap((task) => measure(task) ?? [])];
    }),
  );
}

/** Means of the last five days with 95% intervals, an arm a column; then languages, and the extractor. */
export function reportOf(runs: readonly ArmRun[]): string {
  const arms = ARMS.map(({ name }) => runs.filter((run) => run.arm === name)).filter((found) => found.length > 0);
  const head = ["measure", ...arms.map((found) => `${found[0]?.arm} (${found.length})`)];
  const rows = ROWS.map((row) => [row.name, ...arms.map((found) => cell(sampleOf(found, row)))]);
  const more = [
    ["learning, % of tokens", ...arms.map((found) => rounded(mean(found.map(learningShare))))],
    [
      "extraction: precision, %",
      ...arms.map((found) =>
        rounded(mean(found.map(({ tally }) => (100 * tally.right) / (tally.right + tally.invented + tally.altered)))),
      ),
    ],
    [
      "extraction: recall, %",
      ...arms.map((found) =>
        rounded(mean(found.map(({ tally }) => (100 * tally.right) / (tally.right + tally.dropped + tally.altered)))),
      ),
    ],
  ];
  const on = runs.filter((run) => run.arm === "on");
  const groups = Map.groupBy(on, ({ language }) => language);
  const atOnce: Row = { name: "", measure: ({ firstTry }) => percent(firstTry) };
  const languages = [...groups].map(([language, found]) => [language, cell(sampleOf(found, atOnce))]);
  const traits = [...Map.groupBy(on, ({ trait }) => trait)].map(([trait, found]) => [
    trait,
    cell(sampleOf(found, atOnce)),
  ]);
  return [
    table(head, [...rows, ...more]),
    table(["language or trait", "right at once, %"], [...languages, ...traits]),
  ].join("\n\n");
}

function learningShare({ learningTokens, tasks }: ArmRun): number {
  const own = tasks.reduce((sum, { tokens }) => sum + tokens, 0);
  return (100 * learningTokens) / (own + learningTokens);
}

function cell(sample: Sample): string {
  const { mean: value, low, high, n } = interval(sample);
  return n === 0 ? "–" : `${rounded(value)} [${rounded(low)}, ${rounded(high)}]`;
}

function rounded(value: number): string {
  return Number.isNaN(value) ? "–" : value.toFixed(Math.abs(value) >= 10 ? 0 : 2);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
