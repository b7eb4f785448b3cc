/** Tasks and their results as they travel between coordinator and workers. */
import { hash } from "node:crypto";
import * as z from "zod";
import { HermesModelStep, ShareGptTurn } from "../agent-core/protocol/trajectory.ts";

const text = z.string().exactOptional();

/** Settings of a run that each task gets. They hold no secret. */
export const RunSettings = z.object({
  model: text,
  baseUrl: text,
  distribution: z.string(),
  maxTurns: z.number(),
  maxTokens: z.number().exactOptional(),
  systemMessage: text,
  /** Messages that precede the conversation, as they are in the file. */
  prefill: z.array(z.unknown()).exactOptional(),
  /** Effort of the model's reasoning; `off` disables it. */
  reasoning: text,
  /** Routing of OpenRouter: `only`, `ignore`, `order`, `sort`. */
  routing: z.record(z.string(), z.unknown()).exactOptional(),
  /** `DIR` or `git:REPO@REF`. */
  template: text,
  timeoutMs: z.number(),
  retries: z.number(),
  atif: z.boolean(),
  /** Asks the server for token ids and log probabilities. */
  tokens: z.boolean().exactOptional(),
  /** Leaves sampling to the server, and never changes what was sent: trainers compare the requests. */
  appendOnly: z.boolean().exactOptional(),
});
export type RunSettings = z.infer<typeof RunSettings>;

export const Task = z.object({
  /** SHA-256 of everything that makes this task another one. */
  key: z.string(),
  /** Position in the data set, from 0. */
  index: z.number(),
  batch: z.number(),
  sample: z.number(),
  prompt: z.string(),
  image: text,
  /** Folder to copy in place of the template; in a container, its first folder. */
  cwd: text,
  toolsets: z.array(z.string()).readonly(),
  settings: RunSettings,
});
export type Task = z.infer<typeof Task>;

const counts = z.object({ count: z.number(), success: z.number(), failure: z.number() });

export const TaskResult = z.object({
  key: z.string(),
  index: z.number(),
  batch: z.number(),
  sample: z.number(),
  toolsets: z.array(z.string()).readonly(),
  /** `completed`: the model ended its answer. `partial`: the answer was cut off. `limit`: the turns were used up. */
  outcome: z.enum(["completed", "partial", "limit", "failed"]),
  /** Of a failed task, in one line. */
  error: text,
  model: z.string(),
  conversations: z.array(ShareGptTurn).readonly(),
  toolStats: z.record(z.string(), counts),
  /** Names of called tools that do not exist. */
  unknownTools: z.array(z.string()).readonly(),
  steps: z.array(HermesModelStep).readonly(),
  /** US dollars; missing when unknown. */
  costUsd: z.number().exactOptional(),
  attempts: z.number(),
  durationMs: z.number(),
  /** Requests that were denied, because nobody can be asked. */
  denied: z.array(z.string()).readonly(),
  atif: z.unknown().exactOptional(),
});
export type TaskResult = z.infer<typeof TaskResult>;

/** A line of the data set. */
export type DataRow = Pick<Task, "prompt"> & { readonly image?: string; readonly cwd?: string };

/** Settings whose change makes every task another one. */
const DECISIVE = [
  "model",
  "baseUrl",
  "distribution",
  "maxTurns",
  "maxTokens",
  "systemMessage",
  "prefill",
  "reasoning",
  "routing",
  "template",
] as const satisfies readonly (keyof RunSettings)[];

/** Key of a task. `occurrence`: equal tasks before it in the data set. */
export function taskKey(
  settings: RunSettings,
  row: DataRow,
  { occurrence, sample }: { readonly occurrence: number; readonly sample: number },
): string {
  const decisive = DECISIVE.map((name) => settings[name] ?? null);
  return hash("sha256", JSON.stringify([decisive, rowIdentity(row), occurrence, sample]));
}

/** Equal for rows that are the same task. */
export function rowIdentity({ prompt, image = "", cwd = "" }: DataRow): string {
  return JSON.stringify([prompt.replaceAll("\r\n", "\n").trim().normalize("NFC"), image, cwd]);
}
