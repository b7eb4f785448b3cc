/** Makes calls of the history valid for OpenAI's APIs. Models and other providers use other names and ids. */
import { createHash } from "node:crypto";

/** Longest function name. */
const NAME_CHARS = 64;
/** Hexadecimal digits of a hash. */
const HASH_CHARS = 24;

/** An incomplete call becomes an empty object: its error is its result, and some servers parse the JSON. */
export function sentArguments(json: string): string {
  return json.startsWith("{") && json.endsWith("}") ? json : "{}";
}

/** Replaces characters that the API refuses in names. */
export function sentName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, NAME_CHARS) || "_";
}

/** The id itself if valid, else a hash, equal for the call and its result. */
export function sentCallId(id: string, valid: RegExp): string {
  return valid.test(id) ? id : `call_${hashOf(id)}`;
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARS);
}
