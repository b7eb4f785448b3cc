/** Environments of rollouts: ES modules of the user that give tasks and judge their results. */
import { mkdir, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { messageOf, UsageError } from "../../agent-core/platform/errors.ts";
import { pathBelow } from "../../agent-core/platform/paths.ts";
import type { HermesTrajectory } from "../../agent-core/protocol/trajectory.ts";
import type { RunCommand } from "../agent-session.ts";
import { type Rewards, readyRewards } from "./rewards.ts";

/** What a rollout left. */
export type RolloutResult = {
  /** Last words of the model. */
  readonly text: string;
  /** `end_turn`, or why the model did not end its answer. */
  readonly stopReason: string;
  readonly trajectory: HermesTrajectory;
};

/** Access to the workspace of one rollout. Paths are relative to it, and lead nowhere else. */
export type RolloutContext = {
  /** Runs a command where the agent's commands ran, in their sandbox. */
  run(command: string): Promise<{ readonly exitCode: number | null; readonly output: string }>;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  /** A model's answer to a question about the result: a number from 0 to 1. */
  judge(question: string): Promise<number>;
  readonly rewards: Rewards;
};

export type Environment = {
  readonly name: string;
  setup?(options: { readonly split: string }): Promise<unknown> | unknown;
  /** Undefined: there are no more items. */
  nextItem(): Promise<unknown> | unknown;
  prompt(item: unknown): Promise<string> | string;
  /** Fills the workspace before the agent begins. */
  prepare?(item: unknown, ctx: Pick<RolloutContext, "read" | "write" | "exists">): Promise<unknown> | unknown;
  reward(item: unknown, result: RolloutResult, ctx: RolloutContext): Promise<number> | number;
  /** Items of an evaluation. Default: those of `nextItem`. */
  evaluate?(): Promise<Iterable<unknown>> | Iterable<unknown>;
};

const method = z.custom<(...args: never[]) => unknown>((value) => typeof value === "function", "is no function");
const shape = z.looseObject({
  name: z.string().min(1),
  setup: method.optional(),
  nextItem: method,
  prompt: method,
  prepare: method.optional(),
  reward: method,
  evaluate: method.optional(),
});

/** Loads the module's default export, or the module itself. Rejects with a UsageError in one line. */
export async function loadEnvironment(path: string): Promise<Environment> {
  let loaded: Readonly<Record<string, unknown>>;
  try {
    loaded = await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    throw new UsageError(`--env ${path}: ${messageOf(error)}`);
  }
  const environment = loaded["default"] ?? loaded;
  const parsed = shape.safeParse(environment);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`--env ${path}: ${issue?.path.join(".")}: ${issue?.message ?? "is missing"}`);
  }
  return environment as Environment; // checked by its names; its functions are the user's own
}

export type ContextParts = {
  readonly workspace: string;
  readonly run: RunCommand;
  readonly judge: (question: string) => Promise<number>;
};

export function rolloutContext({ workspace, run, judge }: ContextParts): RolloutContext {
  const place = (path: string): Promise<string> => placeIn(workspace, path);
  const own = {
    run: (command: string) => run(command),
    judge,
    read: async (path: string) => readFile(await place(path), "utf8"),
    exists: async (path: string) => {
      const at = await place(path);
      return stat(at).then(
        () => true,
        () => false,
      );
    },
    async write(path: string, text: string) {
      const at = await place(path);
      await mkdir(dirname(at), { recursive: true });
      await writeFile(at, text);
    },
  };
  return { ...own, rewards: readyRewards(own) };
}

/** The agent may have made links that lead out of its workspace. */
async function placeIn(workspace: string, path: string): Promise<string> {
  const root = await realpath(workspace);
  const wanted = join(root, path);
  for (let existing = wanted; ; existing = dirname(existing)) {
    const real = await realpath(existing).catch(() => undefined);
    if (real === undefined) continue;
    if (real === root || pathBelow(root, real) !== undefined) return wanted;
    throw new Error(`${path} leads out of the workspace`);
  }
}
