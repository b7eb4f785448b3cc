/** Properties that learnt lines give values: values that say the same, that are likely to last, and that have ended. Pure. */
import { holdsValue, markedValues, textKey } from "../memory/statement.ts";
import { type Fact, isActive, isEdited, isShown, sessionOf } from "./facts.ts";

/** Time that is looked back on. Milliseconds. */
const LOOK_BACK_MS = 7 * 24 * 60 * 60 * 1_000;
/** Fewer values that ended within a day show nothing. */
const MIN_ENDED = 6;
/** Values that ended within a day for each one that a later day confirmed, from which nothing is expected to last. */
const RESTLESS = 1.5;
/** Shorter values stand in many texts by chance. Characters. */
const MIN_VALUE_CHARS = 3;

/** Property of a subject; undefined for a line that names none. */
function slotOf({ id, subject, attribute }: Fact): string | undefined {
  return attribute && [id.charAt(0), textKey(subject), textKey(attribute)].join("\n");
}

/** True for the same property of the same subject; `equal`: with the same value. */
export function isSameSlot(one: Fact, other: Fact, equal: boolean): boolean {
  const slot = slotOf(one);
  const isNamed = slot !== undefined && one.value !== undefined && other.value !== undefined;
  return isNamed && slot === slotOf(other) && equal === (textKey(one.value) === textKey(other.value));
}

/** True for words of the user that no longer hold: no line says the same now. */
export function noLongerHolds(fact: Fact, facts: readonly Fact[]): boolean {
  const isSame = (one: Fact): boolean => isSameSlot(one, fact, true) || textKey(one.text) === textKey(fact.text);
  return fact.until !== undefined && fact.source !== "tool" && !facts.some((one) => isActive(one) && isSame(one));
}

/** The lines without those that say a value of another line once more; these come last. */
export function repeatsLast(facts: readonly Fact[]): readonly Fact[] {
  const isRepeat = (fact: Fact, at: number): boolean => facts.slice(0, at).some((one) => isSameSlot(one, fact, true));
  return [...facts.filter((fact, at) => !isRepeat(fact, at)), ...facts.filter(isRepeat)];
}

/**
 * The facts that are likely to last. While most values end before a second day confirms them, only confirmed ones are.
 * `facts`: ended ones included. `at`: milliseconds since 1970.
 */
export function lasting(facts: readonly Fact[], at: number): (fact: Fact) => boolean {
  const isRecent = (time: number): boolean => at - time < LOOK_BACK_MS;
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  const isConfirmed = (fact: Fact): boolean => daysSeen(fact) > 1;
  const hasEnded = (fact: Fact): boolean => {
    const next = byId.get(fact.replacedBy ?? "");
    const isMerged = next !== undefined && isSameSlot(fact, next, true);
    return fact.until !== undefined && isRecent(fact.until) && !isMerged && !isConfirmed(fact);
  };
  const ended = facts.filter(hasEnded).length;
  const confirmed = facts.filter((fact) => isConfirmed(fact) && isRecent(fact.until ?? at)).length;
  if (ended < MIN_ENDED || ended < confirmed * RESTLESS) return () => true;
  return (fact) => fact.isPinned || isEdited(fact) || isConfirmed(fact);
}

/** Days of the sessions that showed the fact since it holds. A session's id begins with its date. */
function daysSeen({ evidence, from }: Fact): number {
  const first = new Date(from).toISOString().slice(0, 10).replaceAll("-", "");
  return new Set(evidence.map((ref) => sessionOf(ref).slice(0, 8)).filter((day) => day >= first)).size;
}

/**
 * Returns the reason why a statement no longer holds: it has a value of the user's that ended. Undefined: it holds as far as
 * the facts show. `facts`: those of one project, ended ones included.
 */
export function outdatedCheck(facts: readonly Fact[]): (statement: string) => string | undefined {
  const valuesOf = (some: readonly Fact[]): ReadonlySet<string> =>
    new Set(some.flatMap(({ value, text }) => (value === undefined ? [...markedValues(text)] : [value.toLowerCase()])));
  const current = valuesOf(facts.filter(isShown));
  const ended = valuesOf(facts.filter(({ until, source }) => until !== undefined && source !== "tool"));
  const outdated = [...ended].filter((value) => value.length >= MIN_VALUE_CHARS && !current.has(value));
  return (statement) => {
    const value = outdated.find((each) => holdsValue(statement, each));
    return value && `\`${value}\` no longer holds`;
  };
}
