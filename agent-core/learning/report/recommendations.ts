/** Recommendations of the health report: one rule for each setting that may be tuned. */
import type { Config } from "../../config/sections.ts";
import { isExplicit, isInBounds, type TunableKey, type TunedSetting } from "../../config/tuned-settings.ts";
import { TASK_TYPES, type TaskType } from "../../messages/task-type.ts";
import type { RateSums } from "../../sessions/index/outcome-sums.ts";
import type { RateName } from "../../sessions/outcome-rates.ts";
import { meanAbove, probabilityAbove } from "../statistics.ts";
import { mean, sumsOf } from "./regressions.ts";

/** A change that the figures of a period speak for. */
export type Proposal = Omit<TunedSetting, "applied" | "state">;

/** Settings of config.yaml: as it is written, and as it applies with everything tuned. */
export type SettingsNow = { readonly config: Config; readonly raw: Readonly<Record<string, unknown>> };

/** One change of a share of the window. */
const STEP = 0.1;
/** Tasks of a type that may overflow before its limit is lowered, and the least number of tasks and cases. */
const OVERFLOWS = { limit: 0.05, tasks: 5, cases: 3 };
/** Tasks of a type that may be compressed before its threshold is raised. */
const COMPRESSIONS = { limit: 0.5, tasks: 10 };
/** A skill is off when its tasks end well this much less often than all tasks. */
const SKILL_LOSS = 0.2;
const MIN_SKILL_TASKS = 10;
const TIMEOUTS = { limit: 0.05, commands: 10, cases: 3 };
const CORRECTIONS = { limit: 0.5, tasks: 20 };

/**
 * Changes within the bounds of their settings. The confidence of each is the probability that its rate is truly beyond the
 * rule's limit: the posterior of the counts under a uniform prior. A value that config.yaml sets has at least a medium risk,
 * because only the user can change it.
 */
export function proposalsOf(period: readonly RateSums[], now: SettingsNow): readonly Proposal[] {
  const all = [
    ...TASK_TYPES.flatMap((type) => [...overflowing(period, now, type), ...compressing(period, now, type)]),
    ...failingSkills(period, now),
    ...timingOut(period, now),
    ...corrected(period, now),
  ];
  return all.filter(({ key, to }) => isInBounds(key, to));
}

function overflowing(period: readonly RateSums[], now: SettingsNow, type: TaskType): readonly Proposal[] {
  const [count, cases] = sumsOf(period, { name: "context_overflow_rate", of: type });
  if (count < OVERFLOWS.tasks || cases < OVERFLOWS.cases) return [];
  const { compression } = now.config;
  const from = compression.by_task?.[type]?.hard_limit ?? compression.hard_limit;
  const confidence = probabilityAbove(OVERFLOWS.limit, cases, count);
  const reason = `The provider refused a request as too long in ${cases} of ${count} tasks of the type ${type}.`;
  const change = { key: "compression.hard_limit", from, to: rounded(from - STEP), scope: type } as const;
  return [proposal(now, period, { ...change, reason, confidence, risk: "low", rate: "context_overflow_rate" })];
}

function compressing(period: readonly RateSums[], now: SettingsNow, type: TaskType): readonly Proposal[] {
  const [count, cases] = sumsOf(period, { name: "compression_rate", of: type });
  const [, overflows] = sumsOf(period, { name: "context_overflow_rate", of: type });
  if (count < COMPRESSIONS.tasks || cases / count <= COMPRESSIONS.limit || overflows > 0) return [];
  const { compression } = now.config;
  const from = compression.by_task?.[type]?.threshold ?? compression.threshold;
  const hardLimit = compression.by_task?.[type]?.hard_limit ?? compression.hard_limit;
  const confidence = probabilityAbove(COMPRESSIONS.limit, cases, count);
  const reason = `The conversation was compressed in ${cases} of ${count} tasks of the type ${type}, and none overflowed.`;
  const to = rounded(Math.max(0.6, from + STEP));
  if (to > hardLimit) return [];
  const change = { key: "compression.threshold", from, to, scope: type } as const;
  return [proposal(now, period, { ...change, reason, confidence, risk: "medium", rate: "compression_rate" })];
}

function failingSkills(period: readonly RateSums[], now: SettingsNow): readonly Proposal[] {
  const limit = mean(sumsOf(period, { name: "task_success_rate", of: undefined })) - SKILL_LOSS;
  return period.flatMap(({ name, of, sums: [count, cases] }) => {
    if (name !== "skill_success_rate" || of === undefined || count < MIN_SKILL_TASKS || cases / count >= limit)
      return [];
    const confidence = 1 - probabilityAbove(limit, cases, count);
    const reason = `${cases} of ${count} tasks with the skill ${of} ended well, far fewer than without it.`;
    const change = { key: "skills.disabled", from: null, to: of, scope: undefined } as const;
    return [proposal(now, period, { ...change, reason, confidence, risk: "medium", rate: "skill_success_rate" })];
  });
}

function timingOut(period: readonly RateSums[], now: SettingsNow): readonly Proposal[] {
  const [count, cases] = sumsOf(period, { name: "command_timeout_rate", of: undefined });
  if (count < TIMEOUTS.commands || cases < TIMEOUTS.cases) return [];
  const from = now.config.terminal.timeout;
  const confidence = probabilityAbove(TIMEOUTS.limit, cases, count);
  const reason = `${cases} of ${count} commands ran into their timeout.`;
  const change = { key: "terminal.timeout", from, to: Math.min(600, from * 2), scope: undefined } as const;
  return [proposal(now, period, { ...change, reason, confidence, risk: "medium", rate: "command_timeout_rate" })];
}

function corrected(period: readonly RateSums[], now: SettingsNow): readonly Proposal[] {
  const sums = sumsOf(period, { name: "corrections_per_task", of: undefined });
  const from = now.config.memory.nudge_interval;
  if (sums[0] < CORRECTIONS.tasks || mean(sums) <= CORRECTIONS.limit || from === 0) return [];
  const confidence = meanAbove(CORRECTIONS.limit, sums);
  const reason = `You corrected the agent ${sums[1]} times in ${sums[0]} tasks; more frequent reviews keep more of it.`;
  const change = {
    key: "memory.nudge_interval",
    from,
    to: Math.max(5, Math.round(from / 2)),
    scope: undefined,
  } as const;
  return [proposal(now, period, { ...change, reason, confidence, risk: "low", rate: "corrections_per_task" })];
}

type Change = {
  readonly key: TunableKey;
  readonly scope: TaskType | undefined;
  readonly from: TunedSetting["from"];
  readonly to: TunedSetting["to"];
  readonly reason: string;
  readonly confidence: number;
  readonly risk: TunedSetting["risk"];
  readonly rate: RateName;
};

function proposal({ raw }: SettingsNow, period: readonly RateSums[], change: Change): Proposal {
  const { key, scope, from, to, confidence, risk, rate: name } = change;
  const of = key === "skills.disabled" ? String(to) : scope;
  const isOwn = isExplicit(raw, key, scope);
  const shown = period.find((rate) => rate.name === name && rate.of === of);
  return {
    id: ["t", key, scope ?? (key === "skills.disabled" ? to : undefined)]
      .filter((part) => part !== undefined)
      .join("-"),
    key,
    from,
    to,
    confidence: Math.round(confidence * 1_000) / 1_000,
    ...(scope !== undefined && { scope }),
    reason: isOwn ? `${change.reason} config.yaml sets it; change it there.` : change.reason,
    risk: isOwn && risk === "low" ? "medium" : risk,
    evidence: shown?.sessions ?? [],
    rate: { name, ...(of !== undefined && { of }), before: mean(shown?.sums ?? [0, 0, 0]) },
  };
}

function rounded(share: number): number {
  return Math.round(share * 100) / 100;
}
