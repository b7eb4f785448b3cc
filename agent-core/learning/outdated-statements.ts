/** Statements that learnt facts have overtaken: sentences of episodes and statements of skills that no longer hold. Pure. */
import { contradicts, readStatement } from "../memory/statement.ts";
import { type Fact, isShown } from "./facts.ts";

/** Shorter values stand in many texts by chance. Characters. */
const MIN_VALUE_CHARS = 3;

/**
 * Returns the reason why a statement no longer holds: it has a value that a newer fact replaced, or contradicts a fact.
 * Undefined: it holds as far as the facts show. `facts`: those of one project, ended ones included.
 */
export function outdatedCheck(facts: readonly Fact[]): (statement: string) => string | undefined {
  const active = facts.filter(isShown).map(({ text }) => ({ text, said: readStatement(text) }));
  const current = new Set(active.flatMap(({ said }) => [...said.values]));
  const ended = facts.filter(({ until }) => until !== undefined).flatMap(({ text }) => [...readStatement(text).values]);
  const outdated = [...new Set(ended)].filter((value) => value.length >= MIN_VALUE_CHARS && !current.has(value));
  return (statement) => {
    const lower = statement.toLowerCase();
    const value = outdated.find((each) => lower.includes(each));
    if (value !== undefined) return `\`${value}\` no longer holds`;
    const said = readStatement(statement);
    const newer = active.find((fact) => contradicts(fact.said, said));
    return newer && `a newer fact says: ${newer.text}`;
  };
}
