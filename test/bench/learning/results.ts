/** Results of a run: its measures by arm, at the beginning and at the end of the days. */
import { difference, type Interval, interval, type Sample } from "./bootstrap.ts";
import type { ArmRun, TaskRecord } from "./run-arm.ts";

export type Metric = {
  readonly name: string;
  /** Tasks that it concerns. */
  readonly of: (task: TaskRecord) => boolean;
  readonly value: (task: TaskRecord) => number;
  /** More of a share is better, and less of a count. */
  readonly unit: "%" | "";
};

const isKind = (kind: string) => (task: TaskRecord) => task.kind === kind;
const firstTry = ({ firstTry: isFirst }: TaskRecord): number => (isFirst ? 100 : 0);
const isTaught = ({ kind, family }: TaskRecord): boolean => kind === "preference" || family === "deploy";

export const METRICS = {
  corrections: { name: "corrections a task", of: isTaught, value: (task) => task.corrections, unit: "" },
  preference: { name: "preference at once", of: isKind("preference"), value: firstTry, unit: "%" },
  fact: { name: "fact at once", of: isKind("fact"), value: firstTry, unit: "%" },
  procedure: { name: "procedure at once", of: isKind("procedure"), value: firstTry, unit: "%" },
  steps: { name: "iterations of a procedure", of: isKind("procedure"), value: (task) => task.iterations, unit: "" },
  decision: { name: "decision at once", of: isKind("decision"), value: firstTry, unit: "%" },
  graph: { name: "graph right", of: isKind("graph"), value: firstTry, unit: "%" },
  research: { name: "research right", of: isKind("research"), value: firstTry, unit: "%" },
  overflows: { name: "overflows of research", of: isKind("research"), value: (task) => task.overflows, unit: "" },
  success: { name: "all right in the end", of: () => true, value: (task) => (task.success ? 100 : 0), unit: "%" },
  tokens: { name: "tokens a task", of: () => true, value: (task) => task.tokens, unit: "" },
} as const satisfies Readonly<Record<string, Metric>>;

/** Tasks of the first day below which the second one counts as well. */
const MIN_FIRST_TASKS = 10;

/** Length of the first and of the last part. Days. */
export function windowDays(days: number): number {
  return Math.max(1, Math.min(7, Math.floor(days / 3)));
}

export class Results {
  readonly runs: readonly ArmRun[];
  readonly days: number;

  constructor(runs: readonly ArmRun[], days: number) {
    this.runs = runs;
    this.days = days;
  }

  get arms(): readonly string[] {
    return [...new Set(this.runs.map(({ arm }) => arm))];
  }

  runsOf(arm: string): readonly ArmRun[] {
    return this.runs.filter((run) => run.arm === arm);
  }

  seedsOf(arm: string): number {
    return new Set(this.runsOf(arm).map(({ seed }) => seed)).size;
  }

  /** Results of the seeds that all of these arms have. */
  pairedOver(arms: readonly string[]): Results {
    const shared = this.runs.filter(({ seed }) =>
      arms.every((arm) => this.runs.some((run) => run.arm === arm && run.seed === seed)),
    );
    return new Results(shared, this.days);
  }

  /** Values of the first or of the last days. */
  sample(arm: string, metric: Metric, part: "early" | "late"): Sample {
    const window = windowDays(this.days);
    return this.#sample(arm, metric, ({ day }) => (part === "early" ? day <= window : day > this.days - window));
  }

  #sample(arm: string, { of, value }: Metric, isIn: (task: TaskRecord) => boolean): Sample {
    return new Map(
      this.runsOf(arm).map(({ seed, tasks }) => [seed, tasks.filter((task) => isIn(task) && of(task)).map(value)]),
    );
  }

  early(arm: string, metric: Metric): Interval {
    return interval(this.sample(arm, metric, "early"));
  }

  late(arm: string, metric: Metric): Interval {
    return interval(this.sample(arm, metric, "late"));
  }

  /**
   * `arm` in the last days less `other` on its first day, over the seeds of both. The loops learn at night, so nothing is
   * learnt on that day. `firstDays`: 2 where the first day has too few tasks.
   */
  riseSince(other: string, arm: string, metric: Metric): { readonly rise: Interval; readonly firstDays: number } {
    const paired = this.pairedOver([arm, other]);
    const firstOf = (days: number): Sample => paired.#sample(other, metric, ({ day }) => day <= days);
    const firstDays = [...firstOf(1).values()].flat().length < MIN_FIRST_TASKS ? 2 : 1;
    return { rise: difference(paired.sample(arm, metric, "late"), firstOf(firstDays)), firstDays };
  }

  /** `arm` less `other` in the last days, over the seeds of both. */
  effect(arm: string, other: string, metric: Metric): Interval {
    const paired = this.pairedOver([arm, other]);
    return difference(paired.sample(arm, metric, "late"), paired.sample(other, metric, "late"));
  }
}
