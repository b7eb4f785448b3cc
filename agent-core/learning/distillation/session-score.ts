/** Sessions of a skill's kind: their scores, and the fate of its steps in them. */
import * as z from "zod";
import { plainReaders } from "../../approval/rules/looks.ts";
import { escapePattern } from "../../platform/escape-pattern.ts";
import { isCheckCommand } from "../../sessions/session-outcomes.ts";
import type { Episode } from "../episode.ts";
import { programOf } from "../rule-checks.ts";

/** A session that shows what the skill is worth. `at`: end of the session, in milliseconds since 1970. */
export const scoredUse = z.object({ sessionId: z.string(), at: z.number(), score: z.number() });

/**
 * Score of a session: its feedback, times the share of its commands that passed. Tests that failed speak against the code and
 * not against the way. A session without any signal counts as good: the user objected to nothing.
 */
export function outcomeOf({ score, stopReasons, commands }: Episode): number {
  const ended = stopReasons.at(-1) === "error" ? 0 : 1;
  const steps = commands.filter(({ command, exit }) => exit === 0 || !isCheckCommand(command));
  const passed = steps.filter(({ exit }) => exit === 0).length;
  return (score ?? ended) * (steps.length === 0 ? 1 : passed / steps.length);
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
 * Fate of a procedure in a session. `held`: its commands passed in their order. `failed`: one failed in its turn, for good or
 * until something else ran. `objected`: all of them passed, and the user objected in the session. `left`: another order
 * passed, or other commands in place of some.
 */
export type Fate = "held" | "failed" | "objected" | "left";

/**
 * Undefined for a session that shows what the model did, and nothing about the procedure: it ran no command of it, or only some
 * of them with nothing in place of the others, or one failed before its time.
 */
export function fateOf(
  spans: readonly string[],
  { commands, corrections }: Pick<Episode, "commands" | "corrections">,
): Fate | undefined {
  const steps = spans.flatMap((span) => span.split(" && ")).map(patternOf);
  const { next, passed, others, isBroken, isMended } = walkOf(steps, commands);
  if (isBroken && (isMended || next < steps.length)) return "failed";
  if (next === steps.length && passed.size > 0) return corrections.length === 0 ? "held" : "objected";
  const isOther = passed.size > 0 && passed.size + others.size >= steps.length;
  return isOther && corrections.length === 0 ? "left" : undefined;
}

/** `next`: the step whose turn it is at last. `passed`: steps. `others`: programs that passed, but for those that only read. */
function walkOf(steps: readonly RegExp[], commands: Episode["commands"]) {
  const passed = new Set<number>();
  const others = new Set<string>();
  let [next, isBroken, isMended] = [0, false, false];
  const runs = commands.flatMap(({ command, exit }) =>
    command.split(" && ").map((part) => [part.trim(), exit] as const),
  );
  const hasFailed = runs.some(([part, exit]) => exit !== 0 && steps.some((step) => step.test(part)));
  for (const [part, exit] of runs) {
    if (next === steps.length) break;
    const step = steps[next]?.test(part) ? next : steps.findIndex((pattern) => pattern.test(part));
    const isInTurn = step >= 0 && step <= next;
    if (exit !== 0) {
      isBroken ||= isInTurn && !isCheckCommand(part);
      continue;
    }
    if (isInTurn) next = Math.max(step + 1, Number(!hasFailed) * next); // a repeated step begins anew after a failure alone
    if (step >= 0) passed.add(step);
    else if (!plainReaders.has(part.replace(/\s.*/, ""))) {
      others.add(programOf(part));
      isMended = isBroken;
    }
  }
  return { next, passed, others, isBroken, isMended };
}

/** Fate in the last of these sessions that tells one; `episodes`: oldest first. */
export function lastFate(spans: readonly string[], episodes: readonly Episode[]): Fate | undefined {
  return episodes.map((episode) => fateOf(spans, episode)).findLast((fate) => fate !== undefined);
}

/** Mean; null of nothing. */
export function meanOf(scores: readonly number[]): number | null {
  return scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
}
