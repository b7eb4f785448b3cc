/** Proof of what a learnt item is worth: it is left out of a tenth of the sessions, and the rest is compared with them. */
import { createHash } from "node:crypto";
import { counted } from "../platform/counted.ts";
import { EVERYWHERE, type Fact, isEdited, isWithin } from "./facts.ts";
import { wilson } from "./statistics.ts";

/** Share of the sessions that do without an item: 26 of 256 values of a byte, until enough did. */
const LEFT_OUT = 26;
const ENOUGH = 5;
/** Sessions after an item was learnt that all have it: what the user has just said must work. They are not compared. */
const FIRST_SESSIONS = 10;
/** Sessions with an item from which the comparison is shown. */
const MIN_WITH = 3;

/** Ended session; `at`: milliseconds since 1970. */
type Ended = { readonly session: string; readonly at: number; readonly cwd?: string | undefined };

/** The sessions that ended since the fact was learnt, where it holds, in their order. */
function sessionsSince<Session extends Ended>(fact: Fact, ended: readonly Session[]): readonly Session[] {
  return ended.filter(({ at, cwd = "" }) => at > fact.from && (fact.scope === EVERYWHERE || isWithin(cwd, fact.scope)));
}

/**
 * True for a session that does without the item. Lines of a person and pinned ones are in every session, and each item is in
 * the first sessions after it was learnt. `ended`: earlier sessions.
 */
export function isLeftOut(sessionId: string, fact: Fact, ended: readonly Ended[]): boolean {
  const later = sessionsSince(fact, ended).slice(FIRST_SESSIONS - 1);
  if (later.length === 0) return false;
  const without = later.slice(1).filter(({ session }) => isChosen(session, fact)).length;
  return without < ENOUGH && isChosen(sessionId, fact);
}

function isChosen(sessionId: string, fact: Fact): boolean {
  return !fact.isPinned && !isEdited(fact) && isInTenth(sessionId, fact.id);
}

/** True in a tenth of the sessions, and always in the same ones. */
export function isInTenth(sessionId: string, itemId: string): boolean {
  return (createHash("sha256").update(`${sessionId} ${itemId}`).digest()[0] ?? 0) < LEFT_OUT;
}

/** Ended session, as far as a comparison needs it. */
export type Measured = Ended & {
  readonly used: readonly string[];
  /** Messages with which the user rejected a result; undefined: unknown. */
  readonly corrections?: number | undefined;
};

/** Corrections of the sessions with and without the fact. */
function sidesOf(
  fact: Fact,
  sessions: Iterable<Measured>,
): { readonly with: readonly number[]; readonly without: readonly number[] } {
  const sides = { with: [] as number[], without: [] as number[] };
  const known = [...sessions].filter(({ corrections }) => corrections !== undefined);
  const since = sessionsSince(
    fact,
    known.toSorted((one, other) => one.at - other.at),
  );
  for (const { session, at, used, corrections = 0 } of since.slice(FIRST_SESSIONS)) {
    if (fact.until !== undefined && at > fact.until) continue;
    if (used.includes(fact.id)) sides.with.push(corrections);
    else if (isChosen(session, fact)) sides.without.push(corrections);
  }
  return sides;
}

/** True when clearly more sessions with the fact have corrections than those without it. */
export function harms(fact: Fact, sessions: Iterable<Measured>): boolean {
  const sides = sidesOf(fact, sessions);
  const shareOf = (values: readonly number[]): number =>
    values.filter((value) => value > 0).length / Math.max(1, values.length);
  const [own, other] = [sides.with, sides.without].map((side) => wilson(shareOf(side), side.length));
  return own !== undefined && other !== undefined && own.low > other.high;
}

/** `With it 0.1 corrections a session (31 sessions), without 0.8 (4).`; empty while there are too few sessions. */
export function receiptOf(fact: Fact, sessions: Iterable<Measured>): string {
  const sides = sidesOf(fact, sessions);
  if (sides.with.length < MIN_WITH || sides.without.length === 0) return "";
  const meanOf = (values: readonly number[]): string =>
    (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(1);
  const sessionsWith = counted(sides.with.length, "session");
  return `With it ${meanOf(sides.with)} corrections a session (${sessionsWith}), without ${meanOf(sides.without)} (${sides.without.length}).`;
}
