/** Merges a candidate into the facts: counts it, adds it, or lets it replace those that it contradicts. Pure. */
import {
  contradicts,
  isSameStatement,
  overlap,
  readStatement,
  type Statement,
  similarity,
} from "../../memory/statement.ts";
import {
  EVERYWHERE,
  entitySlug,
  type Fact,
  factId,
  isActive,
  isEdited,
  isPreference,
  sessionOf,
  USER,
} from "../facts.ts";
import type { LearningChange } from "../learning-ledger.ts";
import type { Admitted } from "./gates.ts";

/** Session that a candidate comes from. */
export type Origin = {
  readonly sessionId: string;
  /** Folder of the project, absolute. */
  readonly project: string;
  /** Name of the project. */
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Words and calls of the agent in the session, in lower case. */
  readonly acted: string;
  /** Positions of the messages that correct the agent, by their words or by an edit that the user took back. */
  readonly corrections: ReadonlySet<number>;
};

export type Merged = {
  readonly facts: readonly Fact[];
  /** Changes for the ledger, also those that an earlier run has written. */
  readonly changes: readonly LearningChange[];
  /** The facts are the same as before. */
  readonly isKnown: boolean;
};

/** Evidence that a line names; the ledger has all of it. */
const MAX_EVIDENCE = 6;
/** Words in common from which two readings of one message say the same. */
const SAME_MESSAGE = 0.4;
/** Words in common with the text that a model names as replaced, and with the new one. */
const SUPERSEDED = 0.6;
/** Words in common from which two rules with the same value are one. */
const SAME_VALUE = 0.6;
const SAME_WORDS = 2;

export function merge(facts: readonly Fact[], candidate: Admitted, origin: Origin): Merged {
  const own = factOf(candidate, origin);
  const statement = readStatement(own.text);
  // A rule that holds everywhere changes everywhere, wherever the user says so.
  const isWide = facts.some((fact) => {
    return (
      isActive(fact) &&
      fact.scope === EVERYWHERE &&
      own.source === "user" &&
      isRival(fact, own, { statement, candidate, origin })
    );
  });
  const made = isWide ? factOf({ ...candidate, scope: "user" }, origin) : own;
  const active = facts.filter((fact) => isActive(fact) && fact.scope === made.scope);
  const stored = facts.find(({ id }) => id === made.id);
  const wider = facts.filter((fact) => isActive(fact) && fact.scope === EVERYWHERE);
  const same = [...active, ...wider].find((fact) => saysSame(fact, made, statement)) ?? stored;
  if (same !== undefined && (isActive(same) || wasSeen(same, made))) return counted(facts, same, made);
  const rivals = active.filter((fact) => isRival(fact, made, { statement, candidate, origin }));
  const refusal = rivals.map((rival) => refusalBy(rival, made)).find((reason) => reason !== undefined);
  if (refusal !== undefined) return { facts, changes: [changeOf("reject", made, null, refusal)], isKnown: true };
  const guarded = rivals.find((rival) => rival.isPinned || isEdited(rival));
  if (guarded !== undefined) return proposed(facts, made, guarded);
  const closed = new Set(rivals);
  const left = facts.map((fact) => {
    return closed.has(fact) ? { ...fact, until: origin.at, replacedBy: made.id } : fact;
  });
  const added =
    stored === undefined ? [...left, made] : left.map((fact) => (fact === stored ? reopened(stored, made) : fact));
  return { facts: added, changes: additionOf(made, rivals), isKnown: false };
}

/** Changes of a new fact that replaces others. */
function additionOf(made: Fact, replaced: readonly Fact[]): readonly LearningChange[] {
  const [first] = replaced;
  const reason = first === undefined ? addReason(made) : `${addReason(made)} It replaces: ${first.text}`;
  const closed = replaced.map((fact) => ({
    ...changeOf("close", fact, fact.text, `Replaced by: ${made.text}`),
    evidence: made.evidence,
  }));
  return [changeOf("add", made, null, reason), ...closed];
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

/** The same words, or another reading of the same message. */
function saysSame(fact: Fact, made: Fact, statement: Statement): boolean {
  const known = readStatement(fact.text);
  if (isSameStatement(known, statement) || haveSameValue(known, statement)) return true;
  if (!fact.evidence.some((ref) => made.evidence.includes(ref)) || contradicts(known, statement)) return false;
  const shared = similarity(known.values, statement.values);
  return shared > 0 && similarity(known.words, statement.words) >= (known.values.size > 0 ? 0.2 : SAME_MESSAGE);
}

type Rivalry = { readonly statement: Statement; readonly candidate: Admitted; readonly origin: Origin };

/** Only one of the two can hold: the same thing with another value, or the fact that the candidate names as replaced. */
function isRival(fact: Fact, made: Fact, { statement, candidate, origin }: Rivalry): boolean {
  if (fact.text === made.text) return false;
  const known = readStatement(fact.text);
  if (areAboutOne(fact, made, origin) && contradicts(known, statement)) return true;
  if (!isValueNew(known, statement)) return false;
  return isCorrected(known, statement, { candidate, origin }) || isSuperseded(fact, statement, candidate);
}

/** Words in common from which a correction is about the thing that the known rule is about. */
const CORRECTED = 0.6;

function isValueNew(known: Statement, statement: Statement): boolean {
  return known.values.size > 0 && statement.values.size > 0 && similarity(known.values, statement.values) === 0;
}

/** The agent did as the known rule says, and the user says otherwise. */
function isCorrected(
  known: Statement,
  statement: Statement,
  { candidate, origin }: Omit<Rivalry, "statement">,
): boolean {
  if (candidate.by !== "user" || !origin.corrections.has(candidate.position)) return false;
  const isFollowed = [...known.values].every((value) => origin.acted.includes(value));
  return (
    isFollowed && sharedWords(known, statement) >= SAME_WORDS && overlap(known.words, statement.words) >= CORRECTED
  );
}

function sharedWords(known: Statement, statement: Statement): number {
  return [...known.words].filter((word) => statement.words.has(word)).length;
}

/** The same rule in other words. */
function haveSameValue(known: Statement, statement: Statement): boolean {
  if (known.values.size === 0 || similarity(known.values, statement.values) < 1) return false;
  if (known.isNegated !== statement.isNegated) return false;
  return sharedWords(known, statement) >= SAME_WORDS && overlap(known.words, statement.words) >= SAME_VALUE;
}

function areAboutOne(fact: Fact, made: Fact, { name }: Origin): boolean {
  return (
    isPreference(fact) ||
    isPreference(made) ||
    entitySlug(fact.subject) === entitySlug(made.subject) ||
    [fact, made].some(({ subject }) => entitySlug(subject) === entitySlug(name))
  );
}

/** The model names it as replaced, and the new one is about the same thing by its words. */
function isSuperseded({ text }: Fact, statement: Statement, { supersedes }: Admitted): boolean {
  if (supersedes === undefined) return false;
  const [known, named] = [readStatement(text), readStatement(supersedes)];
  const isNamed = similarity(known.values, named.values) === 1 && similarity(known.words, named.words) >= SUPERSEDED;
  return isNamed && similarity(known.words, statement.words) > SUPERSEDED;
}

/** A newer fact prevails, and the user's words over a tool's. */
function refusalBy(rival: Fact, made: Fact): string | undefined {
  if (rival.from > made.from) return "a newer fact says otherwise";
  return rival.source !== "tool" && made.source === "tool" ? "the user said otherwise" : undefined;
}

function counted(facts: readonly Fact[], same: Fact, made: Fact): Merged {
  const changes = [
    changeOf("change", { ...same, evidence: made.evidence }, same.text, "Seen again in another session."),
  ];
  const replaced = facts.filter(({ replacedBy, until }) => replacedBy === same.id && until === made.from);
  const isOfThisSession = sessionsIn(same).at(-1) === sessionsIn(made)[0] && same.seen === 1;
  if (wasSeen(same, made)) {
    const isStated = !same.isExplicit && made.isExplicit;
    return {
      facts: isStated ? facts.map((fact) => (fact === same ? { ...same, isExplicit: true } : fact)) : facts,
      changes: isOfThisSession ? additionOf(same, replaced) : changes,
      isKnown: !isStated,
    };
  }
  const more: Fact = {
    ...same,
    seen: same.seen + 1,
    isExplicit: same.isExplicit || made.isExplicit,
    source: same.source === "tool" ? made.source : same.source,
    evidence: [...same.evidence, ...made.evidence].slice(-MAX_EVIDENCE),
  };
  return { facts: facts.map((fact) => (fact === same ? more : fact)), changes, isKnown: false };
}

/** A fact that did not hold for a while holds again. */
function reopened(stored: Fact, made: Fact): Fact {
  return {
    ...stored,
    seen: stored.seen + 1,
    from: made.from,
    until: undefined,
    replacedBy: undefined,
    evidence: [...stored.evidence, ...made.evidence].slice(-MAX_EVIDENCE),
  };
}

function proposed(facts: readonly Fact[], made: Fact, guarded: Fact): Merged {
  const proposal = { ...made, proposedFor: guarded.id };
  const reason = `Proposed instead of a line of the user: ${guarded.text}`;
  return {
    facts: [...facts.filter(({ id }) => id !== made.id), proposal],
    changes: [changeOf("add", proposal, null, reason)],
    isKnown: false,
  };
}

function addReason({ source, isExplicit }: Fact): string {
  if (source === "tool") return "A tool's output shows it.";
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
