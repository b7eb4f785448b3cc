/** Sessions in which a skill reached the model: their scores, and the fate of its steps in them. */
import * as z from "zod";
import { escapePattern } from "../../platform/escape-pattern.ts";
import { isCheckCommand } from "../../sessions/session-outcomes.ts";
import type { Episode } from "../episode.ts";

/** A session in which the skill reached the model. */
/** `at`: end of the session, in milliseconds since 1970. */
export const scoredUse = z.object({ sessionId: z.string(), version: z.string(), at: z.number(), score: z.number() });
export type ScoredUse = z.infer<typeof scoredUse>;

/**
 * Score of a session: its feedback, times the share of its commands that passed. Tests that failed speak against the code and
 * not against the way. A session without any signal counts as good: the user objected to nothing. The baseline counts the same
 * way, so the comparison is fair.
 */
export function outcomeOf({ score, stopReasons, commands }: Episode): number {
  const ended = stopReasons.at(-1) === "error" ? 0 : 1;
  const steps = commands.filter(({ command, exit }) => exit === 0 || !isCheckCommand(command));
  const passed = steps.filter(({ exit }) => exit === 0).length;
  return (score ?? ended) * (steps.length === 0 ? 1 : passed / steps.length);
}

/** True for a session without a failed command, tests apart, and without an objection. */
export function isSmooth({ commands, corrections }: Pick<Episode, "commands" | "corrections">): boolean {
  return corrections.length === 0 && commands.every(({ command, exit }) => exit === 0 || isCheckCommand(command));
}

/** A command with its placeholders, such as `<name>`, as a pattern of command lines. */
function patternOf(span: string): RegExp {
  const parts = span
    .replaceAll(/\s+/g, " ")
    .trim()
    .split(/<[^<>\s]+>/);
  return new RegExp(`^${parts.map(escapePattern).join("\\S+")}(?:\\s|$)`);
}

/**
 * True when the commands of a statement passed in the session, in their order; false when one of them failed until something
 * else ran, or for good. Undefined when none of them ran.
 */
export function heldIn(spans: readonly string[], { commands }: Pick<Episode, "commands">): boolean | undefined {
  const runs = commands.flatMap(({ command, exit }) =>
    command.split(" && ").map((part) => ({ part: part.trim(), ok: exit === 0 })),
  );
  const patterns = spans.flatMap((span) => span.split(" && ")).map(patternOf);
  const steps = runs.map(({ part }) => patterns.findIndex((pattern) => pattern.test(part)));
  if (steps.every((step) => step < 0)) return undefined;
  const failed = runs.findIndex(({ part, ok }, at) => !ok && (steps[at] ?? -1) >= 0 && !isCheckCommand(part));
  if (failed < 0) return true;
  const last = patterns.map((_, step) => runs.findLastIndex(({ ok }, at) => ok && steps[at] === step));
  const inOrder = last.every((at, step) => at >= 0 && at > (last[step - 1] ?? -1));
  const isMended = runs.slice(failed, last.at(-1)).some(({ ok }, at) => ok && (steps[failed + at] ?? -1) < 0);
  return inOrder && !isMended;
}

/** Share of a procedure's commands below which a session that ran some of them went another way. */
const MIN_FOLLOWED = 0.5;

/**
 * As `heldIn`, for a session of the same kind: false also when the user objected to a session that ran the commands, or when it
 * ran few of them.
 */
export function servedIn(spans: readonly string[], episode: Episode): boolean | undefined {
  const { commands, corrections } = episode;
  const followed = spans.filter((span) => heldIn([span], { commands }) !== undefined).length;
  const held = heldIn(spans, episode);
  if (corrections.length > 0 && held !== undefined) return false;
  return followed > 0 && followed < spans.length * MIN_FOLLOWED ? false : held;
}

/** Mean; null of nothing. */
export function meanOf(scores: readonly number[]): number | null {
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
