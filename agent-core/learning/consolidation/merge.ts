/**
 * Merges a candidate into the facts: counts it, or adds it. It replaces only the fact that the model names by its id or exact
 * text; facts with similar words all stay. Pure.
 */
import { textKey } from "../../memory/statement.ts";
import { isSameSlot } from "../fact-values.ts";
import { EVERYWHERE, type Fact, factId, holdsIn, isActive, isEdited, sessionOf, USER, waits } from "../facts.ts";
import type { LearningChange } from "../learning-ledger.ts";
import type { Admitted } from "./gates.ts";

/** Session that a candidate comes from. */
export type Origin = {
  readonly sessionId: string;
  /** Folder of the project, absolute. */
  readonly project: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: number;
};

export type Merged = {
  readonly facts: readonly Fact[];
  /** Changes for the ledger, also those that an earlier run has written. */
  readonly changes: readonly LearningChange[];
};

/** Evidence that a line names; the ledger has all of it. */
const MAX_EVIDENCE = 6;

/** `rejected`: the user's words against lines, by the line's id. */
export function merge(
  facts: readonly Fact[],
  candidate: Admitted,
  origin: Origin,
  rejected: ReadonlyMap<string, string> = new Map(),
): Merged {
  const replaced = replacedBy(candidate, facts, { origin, rejected });
  // A rule that holds everywhere changes everywhere, wherever the user says so.
  const isWide = replaced?.scope === EVERYWHERE && candidate.by === "user";
  const made = factOf(isWide ? { ...candidate, scope: "user" } : candidate, origin);
  const stored = facts.find(({ id }) => id === made.id);
  const same = facts.find((fact) => isActive(fact) && saysSame(fact, made, candidate)) ?? stored;
  if (same !== undefined && (isActive(same) || wasSeen(same, made))) {
    const merged = counted(facts, same, made);
    if (replaced === undefined || replaced.id === same.id || waits(made)) return merged;
    const gone = equals(merged.facts, replaced, same);
    return {
      facts: closed(merged.facts, gone, { ...same, from: made.from }),
      changes: [...merged.changes, ...gone.map((fact) => closing(fact, same))],
    };
  }
  if (replaced !== undefined && (waits(made) || replaced.isPinned || isEdited(replaced))) {
    return proposed(facts, made, replaced);
  }
  const gone = [...equals(facts, replaced, made), ...endedElsewhere(facts, made)];
  const left = closed(facts, gone, made);
  const added =
    stored === undefined ? [...left, made] : left.map((fact) => (fact === stored ? reopened(stored, made) : fact));
  return { facts: added, changes: additionOf(made, gone) };
}

/** True for a line that may end, with the same value of the same property. */
function isEqual(fact: Fact, other: Fact): boolean {
  return isActive(fact) && !fact.isPinned && !isEdited(fact) && isSameSlot(fact, other, true);
}

/** The replaced fact, and those that say the same value of the same property where the new one holds. */
function equals(facts: readonly Fact[], replaced: Fact | undefined, by: Fact): readonly Fact[] {
  if (replaced === undefined) return [];
  const isCovered = ({ scope }: Fact): boolean => by.scope === EVERYWHERE || scope === replaced.scope;
  const rest = facts.filter((fact) => fact.id !== by.id && fact.id !== replaced.id);
  return [replaced, ...rest.filter((fact) => isCovered(fact) && isEqual(fact, replaced))];
}

/** Lines of projects with a value that the user gave up for this one elsewhere, once this one holds everywhere. */
function endedElsewhere(facts: readonly Fact[], made: Fact): readonly Fact[] {
  if (made.scope !== EVERYWHERE) return [];
  const same = new Set(facts.flatMap((fact) => (isSameSlot(fact, made, true) ? [fact.id] : [])));
  const givenUp = facts
    .filter(({ replacedBy: by = "" }) => same.has(by))
    .filter((fact) => isSameSlot(fact, made, false));
  return facts.filter((fact) => fact.from < made.from && givenUp.some((old) => isEqual(fact, old)));
}

/**
 * The older fact that the candidate names as replaced, by its id or its exact text, or that the user rejected for another value
 * of its property; of equal lines the wide one.
 */
function replacedBy(
  candidate: Admitted,
  facts: readonly Fact[],
  { origin, rejected }: { readonly origin: Origin; readonly rejected: ReadonlyMap<string, string> },
): Fact | undefined {
  const { supersedes, by } = candidate;
  const made = factOf(candidate, origin);
  const isNamed = (fact: Fact): boolean =>
    supersedes?.some((name) => fact.id === name || textKey(fact.text) === textKey(name)) === true;
  const isGivenUp = (fact: Fact): boolean => by === "user" && rejected.has(fact.id) && isSameSlot(fact, made, false);
  const older = facts.filter((fact) => isActive(fact) && fact.from <= origin.at && holdsIn(fact, [origin.project]));
  const found = older.find(isNamed) ?? older.find(isGivenUp);
  return found && (facts.find((fact) => fact.scope === EVERYWHERE && isEqual(fact, found)) ?? found);
}

/** The same text, another reading of the same words, or an item that the model names as the same. */
function saysSame(fact: Fact, made: Fact, { repeats, quote }: Admitted): boolean {
  if (fact.scope !== made.scope && fact.scope !== EVERYWHERE) return false;
  if (textKey(fact.text) === textKey(made.text)) return true;
  if (fact.source === "tool") return false; // another wording of the user does not confirm it
  if (fact.id === repeats) return true;
  const isSameMessage = fact.scope === made.scope && fact.evidence.some((ref) => made.evidence.includes(ref));
  return isSameMessage && (textKey(fact.text) === textKey(quote) || isSameSlot(fact, made, true));
}

/** Lines that say another value of the property of a new line: the user is asked whether both hold. */
export function besides(made: Fact, facts: readonly Fact[]): readonly Fact[] {
  const isNear = (fact: Fact): boolean => isActive(fact) && fact.id !== made.id && fact.scope === made.scope;
  return facts.filter((fact) => isNear(fact) && isSameSlot(fact, made, false));
}

/** Facts without those that the user rejected after the agent had followed them, and without those that say the same there. */
export function refuted(
  facts: readonly Fact[],
  rejected: ReadonlyMap<string, string>,
  { at, project }: Origin,
): Merged {
  const named = facts.filter((fact) => isActive(fact) && rejected.has(fact.id) && !fact.isPinned && !isEdited(fact));
  const words = new Map(
    facts.flatMap((fact) => {
      const same = named.find((one) => one === fact || (holdsIn(fact, [project]) && isEqual(fact, one)));
      return same === undefined ? [] : [[fact, rejected.get(same.id)] as const];
    }),
  );
  return {
    facts: facts.map((fact) => (words.has(fact) ? { ...fact, until: at } : fact)),
    changes: [...words].map(([fact, said]) =>
      changeOf("close", fact, fact.text, `You rejected what followed it: ${said}`),
    ),
  };
}

function closed(facts: readonly Fact[], gone: readonly Fact[], by: Pick<Fact, "id" | "from">): readonly Fact[] {
  const ids = new Set(gone.map(({ id }) => id));
  return facts.map((fact) => (ids.has(fact.id) ? { ...fact, until: by.from, replacedBy: by.id } : fact));
}

function closing(replaced: Fact, { text, evidence }: Pick<Fact, "text" | "evidence">): LearningChange {
  return { ...changeOf("close", replaced, replaced.text, `Replaced by: ${text}`), evidence };
}

/** Changes of a new fact that replaces others. */
function additionOf(made: Fact, replaced: readonly Fact[]): readonly LearningChange[] {
  const [first] = replaced;
  const reason = first === undefined ? addReason(made) : `${addReason(made)} It replaces: ${first.text}`;
  return [changeOf("add", made, null, reason), ...replaced.map((fact) => closing(fact, made))];
}

function factOf(candidate: Admitted, { sessionId, project, name, at }: Origin): Fact {
  const { kind, text, by, isExplicit, position, entity } = candidate;
  const scope = candidate.scope === "user" ? EVERYWHERE : project;
  const isRule = kind === "preference";
  return {
    id: factId(isRule ? "p" : "f", scope, text),
    subject: isRule ? USER : candidate.subject.trim().slice(0, 60) || name,
    entity: isRule ? "person" : entity,
    text,
    scope,
    source: by,
    isExplicit,
    seen: 1,
    from: at,
    until: undefined,
    replacedBy: undefined,
    evidence: [`${sessionId}:${position}`],
    isPinned: false,
    proposedFor: undefined,
    attribute: isRule
      ? [candidate.subject, candidate.attribute ?? ""].join(" ").trim() || undefined
      : candidate.attribute,
    value: candidate.value,
    check: candidate.check,
    cites: candidate.cites?.includes(":") === true && by !== "run" ? candidate.cites : undefined,
  };
}

function sessionsIn({ evidence }: Pick<Fact, "evidence">): readonly string[] {
  return evidence.map(sessionOf);
}

/** True when this session is behind the fact already. */
function wasSeen(fact: Fact, made: Fact): boolean {
  const seen = sessionsIn(fact);
  return sessionsIn(made).every((session) => seen.includes(session));
}

function counted(facts: readonly Fact[], same: Fact, made: Fact): Merged {
  const changes = [
    changeOf("change", { ...same, evidence: made.evidence }, same.text, "Seen again in another session."),
  ];
  const replaced = facts.filter(({ replacedBy: by, until }) => by === same.id && until === made.from);
  const isOfThisSession = sessionsIn(same).at(-1) === sessionsIn(made)[0] && same.seen === 1;
  const isExplicit = same.isExplicit || made.isExplicit;
  const source = same.source === "tool" ? made.source : same.source;
  const check = made.check ?? same.check;
  if (wasSeen(same, made)) {
    return {
      facts: facts.map((fact) => (fact === same ? { ...same, isExplicit, source, check } : fact)),
      changes: isOfThisSession ? additionOf(same, replaced) : changes,
    };
  }
  const more: Fact = { ...seenAgain(same, ...made.evidence), isExplicit, source, check };
  return { facts: facts.map((fact) => (fact === same ? more : fact)), changes };
}

/** The fact with one more session that showed it. */
export function seenAgain(fact: Fact, ...evidence: readonly string[]): Fact {
  return { ...fact, seen: fact.seen + 1, evidence: [...fact.evidence, ...evidence].slice(-MAX_EVIDENCE) };
}

/** A fact that did not hold for a while holds again. */
function reopened(stored: Fact, made: Fact): Fact {
  return {
    ...seenAgain(stored, ...made.evidence),
    source: stored.source === "tool" ? made.source : stored.source,
    from: made.from,
    until: undefined,
    replacedBy: undefined,
    check: made.check ?? stored.check,
    cites: made.cites,
  };
}

/** A fact that waits for the user: it would replace a line of the user, or its text comes from a tool. */
function proposed(facts: readonly Fact[], made: Fact, replaced: Fact): Merged {
  const proposal = { ...made, proposedFor: replaced.id };
  const reason = `${addReason(made)} It would replace: ${replaced.text}`;
  return {
    facts: [...facts.filter(({ id }) => id !== made.id), proposal],
    changes: [changeOf("add", proposal, null, reason)],
  };
}

function addReason({ source, isExplicit }: Fact): string {
  if (source === "tool") return "A tool's output says it. It waits for the user's yes.";
  return isExplicit ? "The user stated it." : "The user's words show it.";
}

export function changeOf(
  op: LearningChange["op"],
  { id, text, evidence }: Pick<Fact, "id" | "text" | "evidence">,
  before: string | null,
  reason: string,
): LearningChange {
  const after = op === "close" || op === "remove" || op === "forget" ? null : text;
  return { loop: "consolidation", actor: "loop", op, target: id, before, after, evidence, reason };
}
