/** Proof of what a learnt item is worth: it is left out of a tenth of the sessions, and the rest is compared with them. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { counted } from "../platform/counted.ts";
import { pathBelow } from "../platform/paths.ts";
import { EVERYWHERE, type Fact, isEdited, isWithin } from "./facts.ts";

/** Share of the sessions that do without an item: 26 of 256 values of a byte. */
const LEFT_OUT = 26;
/** Sessions after an item was learnt that all have it: what the user has just said must work. They are not compared. */
const FIRST_SESSIONS = 10;
/** Sessions on each side from which the comparison is shown. */
const MIN_WITH = 3;
const MIN_WITHOUT = 1;
/** Longer files are not read again for a citation. Bytes. */
const MAX_CITED = 1_000_000;

/** Ended session; `at`: milliseconds since 1970. */
type Ended = { readonly at: number; readonly cwd?: string | undefined };

/** The sessions that ended since the fact was learnt, where it holds, in their order. */
function sessionsSince<Session extends Ended>(fact: Fact, ended: readonly Session[]): readonly Session[] {
  return ended.filter(({ at, cwd = "" }) => at > fact.from && (fact.scope === EVERYWHERE || isWithin(cwd, fact.scope)));
}

/**
 * True for a session that does without the item. Lines of a person and pinned ones are in every session, and each item is in
 * the first sessions after it was learnt. `ended`: earlier sessions.
 */
export function isLeftOut(sessionId: string, fact: Fact, ended: readonly Ended[]): boolean {
  if (sessionsSince(fact, ended).length < FIRST_SESSIONS) return false;
  return isChosen(sessionId, fact);
}

function isChosen(sessionId: string, fact: Fact): boolean {
  if (fact.isPinned || isEdited(fact)) return false;
  return (createHash("sha256").update(`${sessionId} ${fact.id}`).digest()[0] ?? 0) < LEFT_OUT;
}

/** Ended session, as far as a comparison needs it. */
export type Measured = Ended & {
  readonly session: string;
  readonly used: readonly string[];
  /** Messages with which the user rejected a result; undefined: unknown. */
  readonly corrections?: number | undefined;
};

/** `With it 0.1 corrections a session (31 sessions), without 0.8 (4).`; empty while there are too few sessions. */
export function receiptOf(fact: Fact, sessions: Iterable<Measured>): string {
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
  if (sides.with.length < MIN_WITH || sides.without.length < MIN_WITHOUT) return "";
  const meanOf = (values: readonly number[]): string =>
    (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(1);
  const sessionsWith = counted(sides.with.length, "session");
  return `With it ${meanOf(sides.with)} corrections a session (${sessionsWith}), without ${meanOf(sides.without)} (${sides.without.length}).`;
}

/** False for a fact whose cited file no longer has its value. A fact without a citation of a file holds as far as is known. */
export async function holdsAtCitation({ cites, value, scope }: Fact): Promise<boolean> {
  const [, path] = /^(.+):\d+$/.exec(cites ?? "") ?? [];
  if (path === undefined || value === undefined || scope === EVERYWHERE) return true;
  const file = join(scope, path);
  if (pathBelow(scope, file) === undefined) return false;
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? false : text.length > MAX_CITED || text.includes(value);
}
