/** Reads shell code with unbash. Anything it cannot read in full has errors, which ask. */
import { type ParsedScript, parse } from "unbash";
import { messageOf } from "../platform/errors.ts";

export type ParsedCommand =
  | { readonly ok: true; readonly script: ParsedScript }
  | { readonly ok: false; readonly reason: string };

/** Substitutions, expansions and here-documents, of which no honest command has this many: the parser's time is quadratic. */
const EXPANSIONS = /[$<>]\(|`|\$\{|<</g;
const MAX_EXPANSIONS = 1500;
/** Words that open a compound command; more of them than any honest command has, prose and code in it included. */
const KEYWORDS = /\b(?:if|while|until|for|case|select|coproc)\s/g;
const MAX_KEYWORDS = 2000;
/** Brackets in brackets; the parser reads the inside of each again. */
const MAX_NESTING = 100;

/** Gives why where the code takes too long to read or cannot be read at all. */
export function parseCommand(code: string): ParsedCommand {
  const problem = tooMuchToRead(code);
  if (problem !== undefined) return { ok: false, reason: `The command cannot be judged: ${problem}` };
  try {
    return { ok: true, script: parse(code) };
  } catch (error) {
    return {
      ok: false,
      reason: `The command cannot be read: ${messageOf(error)}`,
    };
  }
}

function tooMuchToRead(code: string): string | undefined {
  if ((code.match(EXPANSIONS)?.length ?? 0) > MAX_EXPANSIONS) return "it has too many substitutions";
  if ((code.match(KEYWORDS)?.length ?? 0) > MAX_KEYWORDS) return "it has too many compound commands";
  let depth = 0;
  for (const character of code) {
    if (character === "(" || character === "{") depth += 1;
    else if ((character === ")" || character === "}") && depth > 0) depth -= 1;
    if (depth > MAX_NESTING) return "it is nested too deeply";
  }
  return undefined;
}
