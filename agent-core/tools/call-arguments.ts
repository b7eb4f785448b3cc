/** Arguments of a tool call, as the model writes them. */
import { parseJson, parseRepairedJson } from "../platform/json.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly text: string };

/** Texts of servers and models for a call without arguments. */
const NONE = /^(?:null|none|undefined|\[\s*\]|"\s*"|)$/i;
/** Noise before an object: a word such as `json`, a mark of the model's format. */
const HEAD = /^(?:json\s*|<[^<>"{}]*>\s*)+(?=\{)/i;
/** Escapes of JSON, and a backslash that begins none: models write `\d` and `C:\x`. One before a single quote is no part of the text. */
const ESCAPE = /\\(?:["\\/bfnrt']|u[\da-fA-F]{4})|\\/g;

/**
 * A fence and marks around the JSON are left out, and JSON inside a JSON string is read. Broken JSON is repaired when it is
 * complete; JSON that was cut off is refused.
 */
export function parseArguments(json: string): ParsedArguments {
  const bare = json.replaceAll(/^[\s\0\ufeff]+|[\s\0]+$/g, "");
  const text = withoutFence(bare).replace(HEAD, "");
  if (NONE.test(text)) return { ok: true, value: {} };
  const whole = parseJson(text);
  // Some local servers encode the arguments twice.
  if (typeof whole === "string") return { ok: true, value: parseJson(whole) ?? whole };
  if (whole !== undefined) return { ok: true, value: whole };
  const end = text.startsWith("{") ? endOfObject(text) : -1;
  if (end < 0) return refused("the arguments were cut off");
  // Text behind the object that cannot belong to it is a mark. A quotation mark may be one of the object's own.
  const object = /["{]/.test(text.slice(end)) ? text : text.slice(0, end);
  const repaired = parseRepairedJson(object.replaceAll(ESCAPE, (all) => (all === "\\" ? "\\\\" : all)));
  return repaired === undefined ? refused("the arguments are not valid JSON") : { ok: true, value: repaired };
}

/** The text inside a fence of Markdown around all of it. */
export function withoutFence(text: string): string {
  return text.replace(/^```\w*\s*(.*?)\s*```$/s, "$1");
}

/**
 * Length of the object at the start; -1 for one that is cut off. Repair would close open strings at the end, and the tool
 * would write half a file as if it were the whole.
 */
function endOfObject(text: string): number {
  let depth = 0;
  let inString = false;
  let end = -1;
  for (const { 0: token, index } of text.matchAll(/\\[\s\S]|["{}[\]]/g)) {
    if (token === '"') inString = !inString;
    else if (!inString && token.length === 1) depth += "{[".includes(token) ? 1 : -1;
    if (depth === 0 && end < 0) end = index + 1;
  }
  return inString || depth > 0 ? -1 : end;
}

function refused(why: string): ParsedArguments {
  return { ok: false, text: `${why}. Call it again with one complete JSON object.` };
}
