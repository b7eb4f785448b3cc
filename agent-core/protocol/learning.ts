/** Items that the agent learnt, the loops that learn, their budget, and the health report. */
import * as z from "zod";
import { nothing } from "./method.ts";

/** Loops in the background, in the order in which they run. */
export const LOOPS = ["consolidation", "distillation", "report"] as const;
export const LoopName = z.enum(LOOPS);
export type LoopName = z.infer<typeof LoopName>;

/** Switches of the section `learning` in config.yaml. */
export const LearningSwitch = z.enum(["enabled", ...LOOPS, "use"]);
export type LearningSwitch = z.infer<typeof LearningSwitch>;

/**
 * `undo` takes back the last change of the item; `forget` removes it and everything derived from it; `accept` confirms a
 * proposal, which replaces the item that it names; `both` confirms it beside that item.
 */
export const LearntAction = z.enum(["undo", "forget", "pin", "unpin", "accept", "both"]);
export type LearntAction = z.infer<typeof LearntAction>;

export const LearntItem = z.object({
  /** Unique over all loops. */
  id: z.string(),
  loop: LoopName,
  kind: z.enum(["preference", "fact", "episode", "skill"]),
  /** One line or a short paragraph. */
  text: z.string(),
  /** `user`: holds everywhere. Else the folder of a project, absolute. */
  scope: z.string(),
  /** Reason for it in a sentence. */
  reason: z.string(),
  /** Sessions that it comes from, oldest first. */
  sessions: z.array(z.string()).readonly(),
  /** Milliseconds since 1970: of the last change. */
  at: z.number(),
  /** Times that it was observed. */
  seen: z.number(),
  /** Times that it reached the model. */
  used: z.number(),
  /**
   * `trial`: a skill in its first uses. `proposed`: waits for the user. `closed`: a newer one replaced it. `retired`: a skill
   * that made results worse.
   */
  state: z.enum(["active", "trial", "proposed", "closed", "retired"]),
  pinned: z.boolean(),
  /** File with the item, absolute. */
  path: z.string().exactOptional(),
  /** Of a skill: version, and mean score of its uses from 0 to 1 with their number. */
  version: z.string().exactOptional(),
  score: z.number().nullable().exactOptional(),
  uses: z.number().exactOptional(),
  actions: z.array(LearntAction).readonly(),
});
export type LearntItem = z.infer<typeof LearntItem>;

const LoopState = z.object({
  loop: LoopName,
  on: z.boolean(),
  isRunning: z.boolean(),
  /** Milliseconds since 1970; absent before the first run. */
  lastRun: z.number().exactOptional(),
  /** Result of the last run in a sentence. */
  lastResult: z.string().exactOptional(),
});
export type LoopState = z.infer<typeof LoopState>;

export const LearningState = z.object({
  switches: z.record(LearningSwitch, z.boolean()),
  loops: z.array(LoopState).readonly(),
  /** Reason why nothing is learnt at the moment: no model that can answer, or a spent budget. */
  obstacle: z.enum(["no-model", "budget"]).exactOptional(),
  budget: z.object({ tokens: z.number(), maxTokens: z.number(), usd: z.number(), maxUsd: z.number() }),
  /** Newest first. */
  items: z.array(LearntItem).readonly(),
  /** Folder of the files, absolute. */
  folder: z.string(),
});
export type LearningState = z.infer<typeof LearningState>;

/** A rate of a period. */
export const Rate = z.object({
  /** A share of 1 ends with `_rate` or `_score`: `task_success_rate`, `avg_feedback_score`, `tool_error_rate`. */
  name: z.string(),
  /** Tool, model or skill; absent: all. */
  of: z.string().exactOptional(),
  value: z.number(),
  n: z.number(),
  /** The baseline's value. */
  baseline: z.number().exactOptional(),
});
export type Rate = z.infer<typeof Rate>;

export const Regression = z.object({
  rate: z.string(),
  of: z.string().exactOptional(),
  before: z.number(),
  now: z.number(),
  n: z.number(),
  /** Sessions that show it, newest first. */
  sessions: z.array(z.string()).readonly(),
});
export type Regression = z.infer<typeof Regression>;

export const HealthReport = z.object({
  /** Local date, `2026-11-23`. */
  date: z.string(),
  /** Milliseconds since 1970. */
  period: z.object({ from: z.number(), to: z.number() }),
  sessions: z.number(),
  rates: z.array(Rate).readonly(),
  /** Sums of the period. `learning`: cost of learning itself. */
  totals: z.object({
    tokens: z.number(),
    usd: z.number(),
    learningTokens: z.number(),
    learningUsd: z.number(),
  }),
  regressions: z.array(Regression).readonly(),
});
export type HealthReport = z.infer<typeof HealthReport>;

export const learningMethods = {
  state: { name: "_hermes/learning/state", params: nothing, result: LearningState },
  /** `id`: of an item, or `waiting` for all facts and preferences that wait for the user. `message`: outcome in one line. */
  act: {
    name: "_hermes/learning/act",
    params: z.object({ id: z.string(), action: LearntAction }),
    result: z.object({ ok: z.boolean(), message: z.string() }),
  },
  /** Writes the switch into config.yaml. */
  switch: {
    name: "_hermes/learning/switch",
    params: z.object({ name: LearningSwitch, on: z.boolean() }),
    result: z.object({}),
  },
  /** Does all work that there is at once. Fails with -32603 while another process is at work. */
  run: { name: "_hermes/learning/run", params: nothing, result: z.object({ message: z.string() }) },
  /** Reports, newest first; `count`: default 30. */
  reports: {
    name: "_hermes/learning/reports",
    params: z.object({ count: z.number().int().positive().exactOptional() }),
    result: z.object({ reports: z.array(HealthReport).readonly() }),
  },
  /**
   * From the agent: something was learnt, changed, or used (`isUse`). `message`: one line for the user; `items`: their ids, for
   * an undo.
   */
  changed: {
    name: "_hermes/learning/changed",
    params: z.object({
      message: z.string().exactOptional(),
      items: z.array(z.string()).readonly(),
      isUse: z.boolean().exactOptional(),
    }),
  },
} as const;
