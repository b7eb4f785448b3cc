/** The arguments of a tool call, from the JSON text that the model wrote. */
import { jsonrepair } from "jsonrepair";

export type ParsedArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly text: string };

/** Empty is `{}`. Broken JSON is repaired when it is whole; JSON that was cut off is refused, for its end is unknown. */
export function parseArguments(json: string): ParsedArguments {
  const text = json.trim();
  if (text === "") return { ok: true, value: {} };
  const parsed = tryParse(text);
  if (parsed !== undefined) return parsed;
  if (!text.startsWith("{") || isCutOff(text)) {
    return refused("the arguments were cut off before their end");
  }
  try {
    return tryParse(jsonrepair(text)) ?? refused("the arguments are not valid JSON");
  } catch {
    return refused("the arguments are not valid JSON");
  }
}

/** Repair would close what is open at the end, and half a file would be written as if it were the whole. */
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

function tryParse(text: string): ParsedArguments | undefined {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return undefined; // the caller repairs or refuses
  }
}

function refused(why: string): ParsedArguments {
  return { ok: false, text: `${why}. Call it again with one complete JSON object.` };
}
