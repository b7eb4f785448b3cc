/** Runs one task to its result: own home, own workspace, time limit and retries. */
import { execFile } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { messageOf } from "../agent-core/platform/errors.ts";
import type { HermesTrajectory } from "../agent-core/protocol/trajectory.ts";
import { type RunCommand, runSession, type SessionEnd, type SessionRun } from "./agent-session.ts";
import type { RunSettings, Task, TaskResult } from "./task.ts";
import { configureTask, type TaskBase } from "./task-config.ts";
import type { TaskFolder, TaskFolders } from "./task-folders.ts";
import { atif } from "./trajectories/atif.ts";
import { toolStats } from "./trajectories/tool-stats.ts";

const run = promisify(execFile);

export type TaskPlace = { readonly folder: TaskFolder; readonly run: RunCommand };

export type TaskPorts = {
  readonly base: TaskBase;
  readonly folders: TaskFolders;
  readonly log: (line: string) => void;
  /** Delay before the retry `attempt`, counted from 1. Milliseconds. */
  readonly backOff?: (attempt: number) => number;
  /** Called before the prompt, and after the answer while the session is open. The workspace is removed afterwards. */
  readonly prepare?: (task: Task, folder: TaskFolder) => Promise<void>;
  readonly inspect?: (task: Task, end: Omit<SessionEnd, "denied">, place: TaskPlace) => Promise<void>;
};

/** First delay before a retry, doubled each time. A server that refuses for ten minutes is outlasted. Milliseconds. */
const FIRST_DELAY_MS = 15_000;

/** Never rejects for a failure of the task itself; rejects with the signal's reason. */
export async function runTask(task: Task, ports: TaskPorts, signal: AbortSignal): Promise<TaskResult> {
  const { backOff = (attempt) => FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random()) } = ports;
  const { retries } = task.settings;
  for (let attempt = 1; ; attempt += 1) {
    const result = await attemptTask(task, attempt, ports, signal);
    if (result.outcome !== "failed" || attempt > retries) return result;
    ports.log(`task ${task.index}: ${result.error ?? "failed"} (attempt ${attempt} of ${retries + 1})`);
    await delay(backOff(attempt), undefined, { signal });
  }
}

/**
 * Answer of the model to a prompt, in a session of its own without tools. Rejects with an Error in one line, and with the
 * signal's reason.
 */
export async function askModel(
  prompt: string,
  { template: _, ...settings }: RunSettings,
  ports: TaskPorts,
  signal: AbortSignal,
): Promise<string> {
  const task = { key: "", index: 0, batch: 0, sample: 0, prompt, toolsets: ["todo"], settings };
  const { trajectory, error } = await runOnce(task, ports, signal);
  const words = lastWords(trajectory);
  if (error !== undefined || words === "") throw new Error(error ?? "the model gave no answer");
  return words;
}

export function lastWords({ messages }: Pick<HermesTrajectory, "messages">): string {
  return messages.findLast(({ role }) => role === "assistant")?.text ?? "";
}

async function attemptTask(task: Task, attempts: number, ports: TaskPorts, signal: AbortSignal): Promise<TaskResult> {
  const beganAt = Date.now();
  const facts = { attempts, durationMs: 0, beganAt };
  try {
    const end = await runOnce(task, ports, signal);
    return resultOf(task, end, { ...facts, durationMs: Date.now() - beganAt });
  } catch (error) {
    signal.throwIfAborted();
    return failed(task, messageOf(error), { ...facts, durationMs: Date.now() - beganAt });
  }
}

async function runOnce(
  task: Task,
  { base, folders, log, prepare, inspect }: TaskPorts,
  signal: AbortSignal,
): Promise<SessionEnd> {
  const { settings, prompt, image } = task;
  const folder = await folders.open(task);
  const limit = AbortSignal.timeout(settings.timeoutMs);
  try {
    if (image !== undefined) await fetchImage(image, AbortSignal.any([signal, limit]));
    const environment = await configureTask(folder.home, task, base);
    const { systemMessage } = settings;
    const session = {
      cwd: folder.workspace,
      environment,
      prompt,
      task: { systemMessage, modelsHome: base.home, temporary: folder.temporary },
      log,
    };
    await prepare?.(task, folder);
    const whenDone: SessionRun["inspect"] = inspect && ((end, run) => inspect(task, end, { folder, run }));
    const end = await runSession({ ...session, inspect: whenDone }, AbortSignal.any([signal, limit, folder.full]));
    signal.throwIfAborted();
    const stopped = (error: string): SessionEnd => ({ ...end, stopReason: "error", error });
    if (folder.full.aborted) return stopped(messageOf(folder.full.reason));
    return limit.aborted ? stopped(`the task did not end within ${settings.timeoutMs / 1_000} seconds`) : end;
  } finally {
    await folder.remove();
  }
}

async function fetchImage(image: string, signal: AbortSignal): Promise<void> {
  try {
    await run("docker", ["image", "inspect", image], { signal }).catch(() =>
      run("docker", ["pull", image], { signal }),
    );
  } catch (error) {
    const [line = ""] = messageOf(error).trim().split("\n").slice(-1);
    throw new Error(`the image ${image} is not there and could not be pulled: ${line}`);
  }
}

type Facts = { readonly attempts: number; readonly durationMs: number; readonly beganAt: number };

/** Outcomes by the reason of the turn's end. */
const OUTCOMES: Readonly<Record<string, TaskResult["outcome"]>> = {
  end_turn: "completed",
  refusal: "completed",
  max_tokens: "partial",
  max_turn_requests: "limit",
};

function resultOf(task: Task, { trajectory, stopReason, error, denied }: SessionEnd, facts: Facts): TaskResult {
  const { key, index, batch, sample, toolsets, settings } = task;
  const { model, conversations, steps, costUsd } = trajectory;
  return {
    ...{ key, index, batch, sample, toolsets, model, conversations, steps, denied },
    outcome: OUTCOMES[stopReason] ?? "failed",
    ...(error !== undefined && { error }),
    ...toolStats(trajectory),
    ...(costUsd !== undefined && { costUsd }),
    attempts: facts.attempts,
    durationMs: facts.durationMs,
    ...(settings.atif && { atif: atif(trajectory, key, facts.beganAt) }),
  };
}

export function failed(task: Task, error: string, facts: Omit<Facts, "beganAt">): TaskResult {
  const { key, index, batch, sample, toolsets, settings, prompt } = task;
  return {
    ...{ key, index, batch, sample, toolsets, error },
    model: settings.model ?? "",
    outcome: "failed",
    conversations: [{ from: "human", value: prompt }],
    toolStats: {},
    unknownTools: [],
    steps: [],
    denied: [],
    attempts: facts.attempts,
    durationMs: facts.durationMs,
  };
}
