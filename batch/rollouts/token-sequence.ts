/** Tokens of a rollout for a trainer. Only what the model server sent is used: nothing is tokenized here. */
import type { HermesModelStep } from "../../agent-core/protocol/trajectory.ts";

/** Mask of a token that the model did not write. */
const UNTRAINED = -100;

export type TokenSequence = {
  readonly tokens: readonly number[];
  /** The token itself where the model wrote it, else -100. */
  readonly masks: readonly number[];
  /** Log probability of each token that the model wrote, else 0. Undefined when the server sent none. */
  readonly logprobs: readonly number[] | undefined;
};

/**
 * The last call's prompt and answer. An earlier answer is trained only where the last prompt has it unchanged, at its place.
 * Undefined when the server sent no ids.
 */
export function tokenSequence(steps: readonly HermesModelStep[]): TokenSequence | undefined {
  const last = steps.at(-1)?.tokens;
  if (last?.promptIds === undefined || last.completionIds === undefined) return undefined;
  const tokens = [...last.promptIds, ...last.completionIds];
  const masks = tokens.map(() => UNTRAINED);
  const logprobs = tokens.map(() => 0);
  let hasLogprobs = true;
  for (const { tokens: own } of steps) {
    const { promptIds, completionIds, logprobs: given } = own ?? {};
    if (promptIds === undefined || completionIds === undefined) continue;
    if (!isAt(tokens, promptIds, 0) || !isAt(tokens, completionIds, promptIds.length)) continue;
    const isGiven = given?.length === completionIds.length;
    hasLogprobs &&= isGiven;
    for (const [at, id] of completionIds.entries()) {
      masks[promptIds.length + at] = id;
      logprobs[promptIds.length + at] = given?.[at] ?? 0;
    }
  }
  return { tokens, masks, logprobs: hasLogprobs ? logprobs : undefined };
}

function isAt(tokens: readonly number[], part: readonly number[], start: number): boolean {
  return start + part.length <= tokens.length && part.every((id, at) => tokens[start + at] === id);
}
