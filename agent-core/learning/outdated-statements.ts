/** Statements that learnt facts have overtaken: sentences of episodes and statements of skills that no longer hold. Pure. */

import { markedValues } from "../memory/statement.ts";
import { type Fact, isShown } from "./facts.ts";

/** Shorter values stand in many texts by chance. Characters. */
const MIN_VALUE_CHARS = 3;

/**
 * Returns the reason why a statement no longer holds: it has a marked value that a newer fact replaced. Undefined: it holds as
 * far as the facts show. `facts`: those of one project, ended ones included.
 */
export function outdatedCheck(facts: readonly Fact[]): (statement: string) => string | undefined {
  const valuesOf = (some: readonly Fact[]): ReadonlySet<string> =>
    new Set(some.flatMap(({ text }) => [...markedValues(text)]));
  const current = valuesOf(facts.filter(isShown));
  const ended = valuesOf(facts.filter(({ replacedBy }) => replacedBy !== undefined));
  const outdated = [...ended].filter((value) => value.length >= MIN_VALUE_CHARS && !current.has(value));
  return (statement) => {
    const lower = statement.toLowerCase();
    const value = outdated.find((each) => lower.includes(each));
    return value && `\`${value}\` no longer holds`;
  };
}
