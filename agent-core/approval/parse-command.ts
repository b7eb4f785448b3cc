/** Reads a command: checks its text, then parses it with unbash. A command that cannot be read in full asks. */
import { forEachChild, type ParsedScript, parse, type SyntaxNode } from "unbash";
import { messageOf } from "../platform/errors.ts";
import { askAlways, block, type Finding, unread } from "./command-effect.ts";

const MAX_LENGTH = 65_536;
/** Invisible characters: controls except tab and line feed, directions, zero widths, fillers, tags, selectors. */
const HIDDEN =
  /(?![\n\t])\p{Cc}|\p{Cf}|\p{Variation_Selector}|[\u115f\u1160\u17b4\u17b5\u2028\u2029\u2800\u3164\uffa0]|\p{Default_Ignorable_Code_Point}/gu;
/** Joiners and selectors inside an emoji are visible as the emoji. */
const EMOJI =
  /\p{Extended_Pictographic}(?:\p{Variation_Selector}|\p{Emoji_Modifier}|\u200d(?=\p{Extended_Pictographic}))*/gu;

/** Defect that makes a command differ from its appearance; undefined for plain text. One that is not `unread` is still parsed. */
export function findTextDefect(command: string): Finding | undefined {
  if (command.includes("\0")) {
    return { ...block("The command has a NUL character, which no shell accepts"), unread: true };
  }
  if (command.length > MAX_LENGTH) return unread(`The command is too long to be judged (${command.length} characters)`);
  const hidden = new Set(command.replace(EMOJI, "").match(HIDDEN) ?? []);
  if (hidden.size === 0) return undefined;
  const codes = [...hidden]
    .slice(0, 5)
    .map((each) => `U+${each.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}`);
  return askAlways(`The command has invisible characters: ${codes.join(", ")}`);
}

export type ParsedCommand =
  | { readonly ok: true; readonly script: ParsedScript }
  | { readonly ok: false; readonly reason: string };

/** Substitutions, expansions and here-documents in a command: the parser's time is quadratic. */
const EXPANSIONS = /[$<>]\(|`|\$\{|<</g;
const MAX_EXPANSIONS = 1500;
/** Words that open a compound command. No real command has this many, prose in its arguments included. */
const KEYWORDS = /\b(?:if|while|until|for|case|select|coproc)\s/g;
const MAX_KEYWORDS = 2000;
/** Nested brackets: the parser reads the inside of each one again. */
const MAX_NESTING = 100;

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

/** Words of all simple commands in a line, those in substitutions too; undefined for a line that cannot be read in full. */
export function commandsIn(code: string): readonly (readonly string[])[] | undefined {
  const parsed = parseCommand(code);
  if (!parsed.ok || parsed.script.errors !== undefined) return undefined;
  const found: string[][] = [];
  const visit = (node: SyntaxNode): void => {
    const words = node.type === "Command" && node.name ? [node.name, ...node.suffix] : [];
    if (words.length > 0)
      found.push(words.flatMap((word) => ("value" in word && typeof word.value === "string" ? [word.value] : [])));
    forEachChild(node, visit);
  };
  visit(parsed.script);
  return found;
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
