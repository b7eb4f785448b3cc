/** Rates of the health report: the definition of each, and its samples in the outcomes of a session's day. */
import type { JournalEntry } from "./entry.ts";
import { addEntry, noOutcome, noProgress, type Outcome, type Sums } from "./session-outcomes.ts";

/** Groups of a rate besides all together. */
export type RateGroup = "model" | "tool" | "skill";

type RateDefinition = {
  /** For people. A task is the work of one session on one day. */
  readonly sentence: string;
  /** `share` of cases, or `mean` of values. */
  readonly kind: "share" | "mean";
  /** Direction of a change for the worse; null: neither is. */
  readonly worse: "higher" | "lower" | null;
  readonly groups: readonly RateGroup[];
  /** Count, sum and sum of squares of the samples of one session on one day, which are one task when a turn ended. */
  readonly samples: (day: Outcome) => Sums;
};

const NONE: Sums = [0, 0, 0];
const one = (value: number): Sums => [1, value, value * value];
const share = (cases: number, all: number): Sums => [all, cases, cases];
const perTask = (day: Outcome, value: number): Sums => (isTask(day) ? one(value) : NONE);
const scaled = ([count, sum, squares]: Sums, unit: number): Sums => [count, sum / unit, squares / (unit * unit)];
const MS_PER_SECOND = 1_000;

export const RATES = {
  task_success_rate: {
    sentence:
      "Share of tasks that ended well: the last turn ended by itself, the last test or build passed, and the feedback score is not below 0.5.",
    kind: "share",
    worse: "lower",
    groups: ["model"],
    samples: (day) => perTask(day, Number(isSuccess(day))),
  },
  avg_feedback_score: {
    sentence:
      "Mean feedback score of the tasks that have one: share of kept lines, last test or build, and 0 for each correction, early rewind, refused permission and failed turn.",
    kind: "share",
    worse: "lower",
    groups: ["model"],
    samples: (day) => {
      const { score } = scoreOf(day);
      return score === null ? NONE : perTask(day, score);
    },
  },
  tool_error_rate: {
    sentence:
      "Share of tool calls that failed. Refused calls do not count, and a command's exit code is not a failure.",
    kind: "share",
    worse: "higher",
    groups: ["tool"],
    samples: (day) => callSums(Object.values(day.calls)),
  },
  retry_rate: {
    sentence:
      "Share of tool calls that repeat a tool right after it failed, and of delegated tasks that ran more than once.",
    kind: "share",
    worse: "higher",
    groups: ["model"],
    samples: (day) => {
      const [calls] = callSums(Object.values(day.calls));
      return share(day.repeats, calls + day.evaluated);
    },
  },
  escalation_rate: {
    sentence:
      "Share of tasks that the agent gave back: an evaluation asked the user, or a turn ended in an error or at its limit.",
    kind: "share",
    worse: "higher",
    groups: ["model"],
    samples: (day) => perTask(day, Number(day.escalations + day.failedTurns > 0)),
  },
  context_overflow_rate: {
    sentence: "Share of tasks in which the provider refused a request as too long.",
    kind: "share",
    worse: "higher",
    groups: ["model"],
    samples: (day) => perTask(day, Number(day.overflows > 0)),
  },
  refused_permission_rate: {
    sentence: "Share of permission requests that the user refused.",
    kind: "share",
    worse: "higher",
    groups: [],
    samples: (day) => share(day.refused, day.asked),
  },
  skill_success_rate: {
    sentence: "Share of tasks with this skill that ended well.",
    kind: "share",
    worse: "lower",
    groups: ["skill"],
    samples: () => NONE,
  },
  corrections_per_task: {
    sentence: "Messages of a task that follow an edit which the user took back.",
    kind: "mean",
    worse: "higher",
    groups: ["model"],
    samples: (day) => perTask(day, day.corrections),
  },
  turn_seconds: {
    sentence: "Time from a prompt to the end of its turn.",
    kind: "mean",
    worse: null,
    groups: ["model"],
    samples: (day) => scaled(day.turnMs, MS_PER_SECOND),
  },
  first_token_seconds: {
    sentence: "Time from a prompt to the first text or thought of the model.",
    kind: "mean",
    worse: "higher",
    groups: ["model"],
    samples: (day) => scaled(day.firstTokenMs, MS_PER_SECOND),
  },
  tokens_per_task: {
    sentence: "Input and output tokens of a task.",
    kind: "mean",
    worse: null,
    groups: ["model"],
    samples: (day) => perTask(day, day.tokens),
  },
  usd_per_task: {
    sentence: "Cost of a task, as far as the prices are known.",
    kind: "mean",
    worse: null,
    groups: ["model"],
    samples: (day) => perTask(day, day.usd),
  },
} as const satisfies Readonly<Record<string, RateDefinition>>;

export type RateName = keyof typeof RATES;

export function rateDefinition(name: RateName): RateDefinition {
  return RATES[name];
}

/** Samples of a rate in each of its groups, by the group's name; undefined is all together. */
export function samplesOf(name: RateName, day: Outcome): readonly (readonly [string | undefined, Sums])[] {
  const definition = rateDefinition(name);
  const all = definition.samples(day);
  const found = definition.groups.flatMap((group) => groupSamples(group, day, all));
  return [[undefined, all] as const, ...found].filter(([, [count]]) => count > 0);
}

function groupSamples(group: RateGroup, day: Outcome, all: Sums): readonly (readonly [string, Sums])[] {
  switch (group) {
    case "model":
      return day.model === null ? [] : [[day.model, all]];
    case "tool":
      return Object.entries(day.calls).map(([tool, calls]) => [tool, callSums([calls])]);
    case "skill":
      return day.skills.map((skill) => [skill, perTask(day, Number(isSuccess(day)))]);
  }
}

/** True for a day with work that ended. */
export function isTask({ turns }: Outcome): boolean {
  return turns > 0;
}

function isSuccess(day: Outcome): boolean {
  const { score } = scoreOf(day);
  return day.ended === "end_turn" && day.check !== 0 && (score === null || score >= 0.5);
}

function callSums(calls: readonly (readonly [number, number])[]): Sums {
  const count = calls.reduce((sum, [all]) => sum + all, 0);
  const failed = calls.reduce((sum, [, failures]) => sum + failures, 0);
  return share(failed, count);
}

export type FeedbackScore = {
  /** Mean of the signals, from 0 (bad) to 1 (good); null when there are none. */
  readonly score: number | null;
  /** Count of signals behind the score. */
  readonly signals: number;
};

/**
 * Mean of the signals that exist: the share of reviewed lines that were kept; the last test or build after the last edit;
 * and 0 for each correction, early rewind, refused permission, and turn that ended in an error or at its limit.
 */
export function scoreOf(outcome: Outcome): FeedbackScore {
  const { reviewed, kept, check, corrections, takenBack, refused, failedTurns } = outcome;
  const shares = [...(reviewed === 0 ? [] : [kept / reviewed]), ...(check === null ? [] : [check])];
  const signals = shares.length + corrections + takenBack + refused + failedTurns;
  return { score: signals === 0 ? null : shares.reduce((sum, share) => sum + share, 0) / signals, signals };
}

export function feedbackScore(entries: readonly JournalEntry[]): FeedbackScore {
  const outcome = noOutcome();
  const progress = noProgress();
  for (const entry of entries) addEntry(outcome, progress, entry);
  return scoreOf(outcome);
}
