/** Runs the rollouts of an environment's items: a group of conversations for each item, each with its reward. */
import { messageOf } from "../../agent-core/platform/errors.ts";
import { newId } from "../../agent-core/platform/new-id.ts";
import { askModel, lastWords, runTask, type TaskPorts } from "../run-task.ts";
import type { Task, TaskResult } from "../task.ts";
import type { Environment, RolloutResult } from "./environment.ts";
import { rolloutContext } from "./rollout-context.ts";

export type Rollout = {
  readonly item: unknown;
  /** Undefined when the rollout or its reward failed. */
  readonly reward: number | undefined;
  /** Reason of a failure, in one line. */
  readonly error: string | undefined;
  readonly result: TaskResult;
};

export type GroupOptions = Pick<TaskPorts, "base" | "folders" | "log" | "backOff"> &
  Pick<Task, "settings" | "toolsets"> & { readonly environment: Environment; readonly size: number };

/** The conversations of a group run at the same time. Rejects with the signal's reason. */
export async function runGroup(item: unknown, options: GroupOptions, signal: AbortSignal): Promise<readonly Rollout[]> {
  const prompt = await options.environment.prompt(item);
  return Promise.all(
    Array.from({ length: options.size }, (_, at) => runRollout({ item, prompt, at }, options, signal)),
  );
}

type Place = { readonly item: unknown; readonly prompt: string; readonly at: number };

async function runRollout({ item, prompt, at }: Place, options: GroupOptions, signal: AbortSignal): Promise<Rollout> {
  const { environment, settings, toolsets, base, folders, log, backOff } = options;
  const task: Task = { key: newId(), index: 0, batch: 0, sample: at, prompt, toolsets, settings };
  const judge = (question: string): Promise<number> => askJudge(question, task, { base, folders, log }, signal);
  let reward: number | undefined;
  let error: string | undefined;
  const noCommand = (): Promise<never> => Promise.reject(new Error("commands run after the agent"));
  const ports: TaskPorts = {
    ...{ base, folders, log },
    ...(backOff && { backOff }),
    async prepare(_, { workspace }) {
      await environment.prepare?.(item, rolloutContext({ workspace, run: noCommand, judge }));
    },
    async inspect(_, end, { folder: { workspace }, run }) {
      try {
        reward = checked(await environment.reward(item, rolloutResult(end), rolloutContext({ workspace, run, judge })));
      } catch (reason) {
        error = `the reward failed: ${messageOf(reason)}`;
      }
    },
  };
  const result = await runTask(task, ports, signal);
  return { item, reward, error: error ?? result.error, result };
}

function rolloutResult({ stopReason, trajectory }: Pick<RolloutResult, "stopReason" | "trajectory">): RolloutResult {
  return { text: lastWords(trajectory), stopReason, trajectory };
}

function checked(reward: unknown): number {
  if (typeof reward === "number" && Number.isFinite(reward)) return reward;
  throw new Error(`it is ${JSON.stringify(reward)}, and no number`);
}

const JUDGE = "Answer with one number from 0 (no) to 1 (yes), and nothing else.";

async function askJudge(question: string, { settings }: Task, ports: TaskPorts, signal: AbortSignal): Promise<number> {
  const words = await askModel(`${question}\n\n${JUDGE}`, settings, ports, signal);
  const number = Number(/\d+(?:\.\d+)?/.exec(words)?.[0] ?? Number.NaN);
  if (number >= 0 && number <= 1) return number;
  throw new Error(`the judge answered ${JSON.stringify(words.slice(0, 100))}`);
}

/** True for a group that teaches nothing: all rewards are equal. */
export function isEqual(group: readonly Rollout[]): boolean {
  return new Set(group.map(({ reward }) => reward)).size <= 1;
}
