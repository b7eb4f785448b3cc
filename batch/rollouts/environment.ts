/** Environments of rollouts: ES modules of the user that give tasks and judge their results. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { messageOf, UsageError } from "../../agent-core/platform/errors.ts";
import type { HermesTrajectory } from "../../agent-core/protocol/trajectory.ts";
import type { RolloutContext } from "./rollout-context.ts";

export type RolloutResult = {
  /** Last words of the model. */
  readonly text: string;
  /** `end_turn`, or why the model did not end its answer. */
  readonly stopReason: string;
  readonly trajectory: HermesTrajectory;
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
