/** Arguments of a tool call, as the model writes them. */
import { parseJson, parseRepairedJson } from "../platform/json.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly text: string };

/**
 * Empty text and `null` are `{}`, a fence around the JSON is left out, and JSON inside a JSON string is read. Broken JSON is
 * repaired when it is complete; JSON that was cut off is refused.
 */
export function parseArguments(json: string): ParsedArguments {
  const text = json.trim().replace(/^```\w*\s*(.*?)\s*```$/s, "$1");
  if (text === "" || text === "null") return { ok: true, value: {} };
  const whole = parseJson(text);
  // Some local servers encode the arguments twice.
  if (typeof whole === "string") return { ok: true, value: parseJson(whole) ?? whole };
  if (whole !== undefined) return { ok: true, value: whole };
  if (!text.startsWith("{") || isCutOff(text)) return refused("the arguments were cut off");
  const repaired = parseRepairedJson(text);
  return repaired === undefined ? refused("the arguments are not valid JSON") : { ok: true, value: repaired };
}

/** Repair would close open strings at the end, and the tool would write half a file as if it were the whole. */
function isCutOff(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString && character === "\\") at += 1;
    else if (character === '"') inString = !inString;
    else if (!inString && (character === "{" || character === "[")) depth += 1;
    else if (!inString && (character === "}" || character === "]")) depth -= 1;
  }
  return inString || depth > 0;
}

function refused(why: string): ParsedArguments {
  return { ok: false, text: `${why}. Call it again with one complete JSON object.` };
}
