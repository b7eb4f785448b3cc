/** One session's statements merged into the facts, with the records of each change for the ledger. Pure. */
import { textKey } from "../../memory/statement.ts";
import { EVERYWHERE, type Fact, factId, isActive, isPreference, sessionOf } from "../facts.ts";
import type { LearningChange, LearningRecord } from "../learning-ledger.ts";
import type { Admitted } from "./gates.ts";
import { changeOf, type Merged, merge, type Origin, refuted } from "./merge.ts";

/** Facts that one session may add. */
const MAX_FACTS = 8;
/** Rejections of a session that the ledger keeps. */
const MAX_REJECTIONS = 12;

export type Rejection = { readonly target: string; readonly text: string | null; readonly reason: string };

export type Batch = {
  readonly origin: Origin;
  readonly admitted: readonly Admitted[];
  readonly rejected: readonly Rejection[];
  /** The user's words against lines that the agent had followed, by the line's id. */
  readonly refuted?: ReadonlyMap<string, string>;
};

/**
 * Facts with a batch merged in. Rules of the user come first, then the user's other words, then the output of tools.
 * `forgotten`: records of everything that the user had forgotten. What a tool says is proposed again in no session.
 */
export function mergeBatch(
  facts: readonly Fact[],
  { origin, admitted, rejected, refuted: against = new Map() }: Batch,
  forgotten: readonly LearningRecord[],
): Merged {
  const targetsOf = (records: readonly LearningRecord[]): ReadonlySet<string> =>
    new Set(records.map(({ target }) => target));
  const own = forgotten.filter((record) => isFrom(record, origin.sessionId));
  const forgottenItems = { user: targetsOf(own), run: targetsOf(own), tool: targetsOf(forgotten) };
  const forgottenRefs = new Set(own.flatMap(({ evidence }) => evidence));
  const weight = ({ isExplicit, by }: Admitted): number => Number(isExplicit) + Number(by === "user");
  const ordered = admitted.toSorted((one, other) => weight(other) - weight(one));
  const changes: LearningChange[] = [];
  const left: Rejection[] = [...rejected];
  let now = facts;
  let count = facts.filter(({ evidence }) => evidence.at(0)?.startsWith(`${origin.sessionId}:`)).length;
  for (const candidate of ordered) {
    if (forgottenRefs.has(`${origin.sessionId}:${candidate.position}`)) continue;
    const merged = merge(now, candidate, origin, against);
    // The same text at another place of the session.
    if (merged.changes.some(({ op, target }) => op === "add" && forgottenItems[candidate.by].has(target))) continue;
    const isNew = merged.facts.length > now.length;
    if (isNew && count >= MAX_FACTS) {
      left.push({ target: rejectionId(candidate.text), text: candidate.text, reason: "the session has enough facts" });
      continue;
    }
    if (isNew) count += 1;
    now = merged.facts;
    changes.push(...merged.changes);
  }
  // Lines that the user said again hold.
  const said = new Set(changes.flatMap(({ op, target }) => (op === "close" ? [] : [target])));
  const closed = refuted(now, new Map([...against].filter(([id]) => !said.has(id))), origin);
  const spread = promoted(closed.facts, origin);
  const evidence = [`${origin.sessionId}:0`];
  const rejections = left.slice(0, MAX_REJECTIONS).map(({ target, text, reason }): LearningChange => {
    return {
      loop: "consolidation",
      actor: "loop",
      op: "reject",
      target,
      before: null,
      after: text,
      evidence,
      reason: `Not kept: ${reason}.`,
    };
  });
  return { facts: spread.facts, changes: [...changes, ...closed.changes, ...spread.changes, ...rejections] };
}

/** True for the record of a session's episode, or of a fact from that session. */
export function isFrom({ target, evidence }: LearningRecord, sessionId: string): boolean {
  return target === `e-${sessionId}` || evidence.some((ref) => sessionOf(ref) === sessionId);
}

export function rejectionId(text: string): string {
  return factId("f", "rejected", text);
}

/** A preference of two projects holds everywhere. */
function promoted(facts: readonly Fact[], { at }: Origin): Merged {
  const active = facts.filter((fact) => isActive(fact) && isPreference(fact) && fact.scope !== EVERYWHERE);
  let now = facts;
  const changes: LearningChange[] = [];
  for (const group of Map.groupBy(active, ({ text }) => textKey(text)).values()) {
    const first = group.at(-1);
    if (first === undefined || new Set(group.map(({ scope }) => scope)).size < 2) continue;
    const evidence = group.flatMap((fact) => fact.evidence);
    const seen = group.reduce((sum, fact) => sum + fact.seen, 0);
    const wide: Fact = {
      ...first,
      id: factId("p", EVERYWHERE, first.text),
      scope: EVERYWHERE,
      seen,
      evidence,
      from: at,
    };
    const closed = now.map((fact) => (group.includes(fact) ? { ...fact, until: at, replacedBy: wide.id } : fact));
    now = [...closed.filter(({ id }) => id !== wide.id), wide];
    changes.push(changeOf("add", wide, null, "Two projects show it, so it holds everywhere."));
    changes.push(...group.map((fact) => changeOf("close", fact, fact.text, "It holds everywhere now.")));
  }
  return { facts: now, changes };
}
