/** Result of a task with a JSON schema: the JSON in the sub-agent's last message, and its check. */
import { parseRepairedJson } from "../platform/json.ts";

/** Returns the errors of a value, in one line; undefined for a valid one. */
export type SchemaCheck = (value: unknown) => string | undefined;

export type SchemaResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly value: unknown; readonly errors: readonly string[] };

export function schemaResult(answer: string, check: SchemaCheck): SchemaResult {
  const found = jsonIn(answer);
  if (found === undefined) return { ok: false, value: undefined, errors: ["The message holds no JSON value."] };
  const errors = check(found.value);
  return errors === undefined ? { ok: true, ...found } : { ok: false, ...found, errors: [errors] };
}

const FENCED = /```(?:json)?[ \t]*\n([\s\S]*?)\n[ \t]*```/g;

/** The last JSON value of a message: in a fence, or at its end. */
function jsonIn(text: string): { readonly value: unknown } | undefined {
  const candidates = [text, ...[...text.matchAll(FENCED)].map(([, json = ""]) => json).reverse(), ...endings(text)];
  for (const candidate of candidates) {
    try {
      return { value: JSON.parse(candidate) as unknown };
    } catch {
      // not JSON: the next candidate may be
    }
  }
  const repaired = endings(text)
    .map((json) => parseRepairedJson(json))
    .find((value) => value !== undefined);
  return repaired === undefined ? undefined : { value: repaired };
}

/** Maximum number of opening brackets that are tried as the start of the value. */
const MAX_STARTS = 200;

/** Texts from each opening bracket to the last closing one, the longest first. */
function endings(text: string): readonly string[] {
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]")) + 1;
  const starts = [...text.slice(0, end).matchAll(/[{[]/g)].slice(0, MAX_STARTS);
  return starts.map(({ index }) => text.slice(index, end));
}
