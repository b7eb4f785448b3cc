/** One session's statements merged into the facts, with the records of each change for the ledger. Pure. */
import { isSameStatement, overlap, readStatement, type Statement, similarity } from "../../memory/statement.ts";
import { EVERYWHERE, type Fact, factId, isActive, isPreference, sessionOf } from "../facts.ts";
import type { LearningChange, LearningRecord } from "../learning-ledger.ts";
import type { Admitted } from "./gates.ts";
import { changeOf, merge, type Origin } from "./merge.ts";

/** Facts that one session may add. */
const MAX_FACTS = 8;
/** Rejections of a session that the ledger keeps. */
const MAX_REJECTIONS = 12;
/** Words in common from which two rules with the same value are the same. */
const SAME_RULE = 0.6;

export type Rejection = { readonly target: string; readonly text: string | null; readonly reason: string };

export type Batch = {
  readonly origin: Origin;
  readonly admitted: readonly Admitted[];
  readonly rejected: readonly Rejection[];
  /** An earlier run may have written a part of it. */
  readonly isRepeated: boolean;
};

/** `changes`: for the ledger. */
export type MergedBatch = { readonly facts: readonly Fact[]; readonly changes: readonly LearningChange[] };

/**
 * Facts with a batch merged in. Rules of the user come first, then the user's other words, then the output of tools.
 * `forgotten`: records of everything in the session that the user had forgotten.
 */
export function mergeBatch(
  facts: readonly Fact[],
  { origin, admitted, rejected }: Batch,
  forgotten: readonly LearningRecord[],
): MergedBatch {
  const forgottenItems = new Set(forgotten.map(({ target }) => target));
  const forgottenRefs = new Set(forgotten.flatMap(({ evidence }) => evidence));
  const weight = ({ isExplicit, by }: Admitted): number => Number(isExplicit) + Number(by === "user");
  const ordered = admitted.toSorted((one, other) => weight(other) - weight(one));
  const changes: LearningChange[] = [];
  const left: Rejection[] = [...rejected];
  let now = facts;
  let count = facts.filter(({ evidence }) => evidence.at(0)?.startsWith(`${origin.sessionId}:`)).length;
  for (const candidate of ordered) {
    if (forgottenRefs.has(`${origin.sessionId}:${candidate.position}`)) continue;
    const merged = merge(now, candidate, origin);
    // The same text at another place of the session.
    if (merged.changes.some(({ op, target }) => op === "add" && forgottenItems.has(target))) continue;
    const isNew = merged.facts.length > now.length;
    if (isNew && count >= MAX_FACTS) {
      left.push({ target: rejectionId(candidate.text), text: candidate.text, reason: "the session has enough facts" });
      continue;
    }
    if (isNew) count += 1;
    now = merged.facts;
    changes.push(...merged.changes);
  }
  const spread = promoted(now, origin);
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
  return { facts: spread.facts, changes: [...changes, ...spread.changes, ...rejections] };
}

export function rejectionId(text: string): string {
  return factId("f", "rejected", text);
}

/** A preference of two projects holds everywhere. */
function promoted(facts: readonly Fact[], { at }: Origin): MergedBatch {
  const active = facts.filter((fact) => isActive(fact) && isPreference(fact) && fact.scope !== EVERYWHERE);
  let now = facts;
  const changes: LearningChange[] = [];
  for (const group of groupsOf(active)) {
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

/** Preferences that say the same, also in other words when they name the same value. */
function groupsOf(facts: readonly Fact[]): readonly (readonly Fact[])[] {
  const groups: { readonly statement: Statement; readonly facts: Fact[] }[] = [];
  for (const fact of facts) {
    const statement = readStatement(fact.text);
    const group = groups.find(({ statement: other }) => {
      const isSameValue = statement.values.size > 0 && similarity(statement.values, other.values) === 1;
      return isSameStatement(statement, other) || (isSameValue && overlap(statement.words, other.words) >= SAME_RULE);
    });
    if (group === undefined) groups.push({ statement, facts: [fact] });
    else group.facts.push(fact);
  }
  return groups.map((group) => group.facts);
}

/** False for an addition that the files had before: another reading of the same session found it again. */
export function isNews(before: readonly Fact[]): (change: LearningChange) => boolean {
  const known = new Map(before.map((fact) => [fact.id, fact]));
  return ({ op, target, evidence }) => {
    const fact = known.get(target);
    if (fact === undefined) return true;
    if (op === "add") return !isActive(fact);
    if (op !== "change") return true;
    const session = sessionOf(evidence.at(-1) ?? "");
    return !fact.evidence.some((ref) => sessionOf(ref) === session);
  };
}
