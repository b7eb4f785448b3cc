/** Texts of a tool call: the arguments that the model writes, and the result that it gets. */

import { join } from "node:path";
import { jsonrepair } from "jsonrepair";
import { fallbackOutputFile } from "../platform/children/output-flow.ts";
import { messageOf } from "../platform/errors.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly text: string };

/** Empty text is `{}`. Broken JSON is repaired when it is complete; JSON that was cut off is refused. */
export function parseArguments(json: string): ParsedArguments {
  const text = json.trim();
  if (text === "") return { ok: true, value: {} };
  const parsed = tryParse(text);
  if (parsed !== undefined) return parsed;
  if (!text.startsWith("{") || isCutOff(text)) {
    return refused("the arguments were cut off");
  }
  try {
    return tryParse(jsonrepair(text)) ?? refused("the arguments are not valid JSON");
  } catch {
    return refused("the arguments are not valid JSON");
  }
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

/** A longer result goes to a file, and the model gets both ends and the path. Characters. */
const RESULT_LIMIT = 100_000;
const HEAD_CHARS = 20_000;
const TAIL_CHARS = 20_000;

/** Place of a result that is too long. `callId` names the file under `spillFolder`. */
export type SpillPlace = {
  readonly callId: string;
  /** Absolute. */
  readonly spillFolder: string;
  writeSpill(path: string, text: string): Promise<void>;
};

/** `text` itself when it has at most `limit` characters; `limit` is more than both ends. */
export async function limitResult(
  text: string,
  { callId, spillFolder, writeSpill }: SpillPlace,
  limit = RESULT_LIMIT,
): Promise<string> {
  if (text.length <= limit) return text;
  const path = join(spillFolder, `result-${callId.replace(/[^\w-]/g, "_")}.txt`);
  const stored = (at: string) => (): string => `The whole result (${text.length} characters) is in ${at}.`;
  const fallback = fallbackOutputFile(path);
  const where = await writeSpill(path, text)
    .then(stored(path), () => writeSpill(fallback, text).then(stored(fallback)))
    .catch((error: unknown) => `The whole result could not be stored: ${messageOf(error)}.`);
  const omitted = text.length - HEAD_CHARS - TAIL_CHARS;
  return `${text.slice(0, HEAD_CHARS)}\n\n[… ${omitted} characters left out. ${where} …]\n\n${text.slice(-TAIL_CHARS)}`;
}
