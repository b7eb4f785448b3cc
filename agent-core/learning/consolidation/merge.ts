/** Merges a candidate into the facts: counts it, adds it, or lets it replace those that it contradicts. Pure. */
import { contradicts, isSameStatement, readStatement, type Statement, similarity } from "../../memory/statement.ts";
import { EVERYWHERE, entitySlug, type Fact, factId, isActive, isEdited, isPreference, USER } from "../facts.ts";
import type { LearningChange } from "../ledger.ts";
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
/** Words in common with the text that a model names as replaced. */
const SUPERSEDED = 0.6;

export function merge(facts: readonly Fact[], candidate: Admitted, origin: Origin): Merged {
  const made = factOf(candidate, origin);
  const statement = readStatement(made.text);
  const active = facts.filter((fact) => isActive(fact) && fact.scope === made.scope);
  const stored = facts.find(({ id }) => id === made.id);
  const same = stored ?? active.find((fact) => saysSame(fact, made, statement));
  if (same !== undefined && (isActive(same) || wasSeen(same, made))) return counted(facts, same, made);
  const rivals = active.filter((fact) => areRivals(fact, made, statement, origin) || isSuperseded(fact, candidate));
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
  const reason = rivals.length === 0 ? addReason(made) : `${addReason(made)} It replaces: ${rivals[0]?.text ?? ""}`;
  return {
    facts: added,
    changes: [
      changeOf("add", made, null, reason),
      ...rivals.map((rival) => ({
        ...changeOf("close", rival, rival.text, `Replaced by: ${made.text}`),
        evidence: made.evidence,
      })),
    ],
    isKnown: false,
  };
}

function factOf(candidate: Admitted, { sessionId, project, name, at }: Origin): Fact {
  const { kind, text, by, isExplicit, position, entity } = candidate;
  const scope = candidate.scope === "user" ? EVERYWHERE : project;
  const isRule = kind === "preference";
  return {
    id: factId(isRule ? "p" : "f", scope, text),
    subject: isRule ? USER : candidate.subject.trim().slice(0, 60) || name,
    entity: isRule ? "person" : entity,
    ...{ text, scope, source: by, isExplicit, seen: 1, from: at, until: undefined, replacedBy: undefined },
    evidence: [`${sessionId}:${position}`],
    isPinned: false,
    proposedFor: undefined,
  };
}

function sessionsIn({ evidence }: Pick<Fact, "evidence">): readonly string[] {
  return evidence.map((ref) => ref.replace(/:\d+$/, ""));
}

/** True when this session is behind the fact already. */
function wasSeen(fact: Fact, made: Fact): boolean {
  const seen = sessionsIn(fact);
  return sessionsIn(made).every((session) => seen.includes(session));
}

/** The same words, or another reading of the same message. */
function saysSame(fact: Fact, made: Fact, statement: Statement): boolean {
  const known = readStatement(fact.text);
  if (isSameStatement(known, statement)) return true;
  if (!fact.evidence.some((ref) => made.evidence.includes(ref)) || contradicts(known, statement)) return false;
  const shared = similarity(known.values, statement.values);
  return shared > 0 && similarity(known.words, statement.words) >= (known.values.size > 0 ? 0.2 : SAME_MESSAGE);
}

/** One of the two can hold, and both are about the same thing. */
function areRivals(fact: Fact, made: Fact, statement: Statement, { name }: Origin): boolean {
  const isSameSubject =
    isPreference(fact) ||
    isPreference(made) ||
    entitySlug(fact.subject) === entitySlug(made.subject) ||
    [fact, made].some(({ subject }) => entitySlug(subject) === entitySlug(name));
  return isSameSubject && contradicts(readStatement(fact.text), statement);
}

function isSuperseded({ text }: Fact, { supersedes }: Admitted): boolean {
  if (supersedes === undefined) return false;
  const [one, other] = [readStatement(text), readStatement(supersedes)];
  return similarity(one.values, other.values) === 1 && similarity(one.words, other.words) >= SUPERSEDED;
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
  const isOfThisSession = sessionsIn(same).at(-1) === sessionsIn(made)[0] && same.seen === 1;
  if (wasSeen(same, made)) {
    const isStated = !same.isExplicit && made.isExplicit;
    return {
      facts: isStated ? facts.map((fact) => (fact === same ? { ...same, isExplicit: true } : fact)) : facts,
      changes: isOfThisSession ? [changeOf("add", same, null, addReason(same))] : changes,
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
    ...{ seen: stored.seen + 1, from: made.from, until: undefined, replacedBy: undefined },
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
