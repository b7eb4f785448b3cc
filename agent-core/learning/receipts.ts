/** Proof of what a learnt item is worth: it is left out of a tenth of the sessions, and the rest is compared with them. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { counted } from "../platform/counted.ts";
import { pathBelow } from "../platform/paths.ts";
import { EVERYWHERE, type Fact, isEdited, isWithin } from "./facts.ts";

/** Share of the sessions that do without an item: 26 of 256 values of a byte. */
const LEFT_OUT = 26;
/** Sessions on each side from which the comparison is shown. */
const MIN_WITH = 3;
const MIN_WITHOUT = 1;
/** Longer files are not read again for a citation. Bytes. */
const MAX_CITED = 1_000_000;

/** True for a session that does without the item. Lines of a person and pinned ones are in every session. */
export function isLeftOut(sessionId: string, fact: Fact): boolean {
  if (fact.isPinned || isEdited(fact)) return false;
  return (createHash("sha256").update(`${sessionId} ${fact.id}`).digest()[0] ?? 0) < LEFT_OUT;
}

/** Ended session, as far as a comparison needs it. */
export type Measured = {
  readonly session: string;
  readonly at: number;
  readonly cwd?: string | undefined;
  readonly used: readonly string[];
  /** Messages with which the user rejected a result; undefined: unknown. */
  readonly corrections?: number | undefined;
};

/** `With it 0.1 corrections a session (31 sessions), without 0.8 (4).`; empty while there are too few sessions. */
export function receiptOf(fact: Fact, sessions: Iterable<Measured>): string {
  const sides = { with: [] as number[], without: [] as number[] };
  for (const { session, at, cwd = "", used, corrections } of sessions) {
    if (corrections === undefined || at <= fact.from || (fact.until !== undefined && at > fact.until)) continue;
    if (used.includes(fact.id)) sides.with.push(corrections);
    else if ((fact.scope === EVERYWHERE || isWithin(cwd, fact.scope)) && isLeftOut(session, fact)) {
      sides.without.push(corrections);
    }
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
