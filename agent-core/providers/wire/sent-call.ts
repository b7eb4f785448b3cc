/** Makes calls of the history valid for an API. Models and other providers use other names and ids. */
import { createHash } from "node:crypto";
import { isWholeObject } from "./partial-tool-calls.ts";

/** Longest function name, at OpenAI and Anthropic. */
const NAME_CHARS = 64;
/** Hexadecimal digits of a hash. */
const HASH_CHARS = 24;

/** Arguments that are no JSON object become an empty one: their error is the result, and some servers parse the JSON. */
export function sentArguments(json: string): string {
  return isWholeObject(json) ? json : "{}";
}

/** Replaces characters that the APIs refuse in names. */
export function sentName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, NAME_CHARS) || "_";
}

/** Ids of calls that an API accepts. `make` turns a hash into one. */
export type CallIds = { readonly valid: RegExp; make(hash: string): string };

const prefixed = (hash: string): string => `call_${hash}`;

/** OpenAI refuses longer ids. */
export const chatCallIds: CallIds = { valid: /^[\s\S]{1,40}$/, make: prefixed };
/** The Responses API refuses other characters too. */
export const responsesCallIds: CallIds = { valid: /^[\w-]{1,64}$/, make: prefixed };
export const anthropicCallIds: CallIds = { valid: responsesCallIds.valid, make: (hash) => `toolu_${hash}` };
/** Mistral's models accept no other ids, wherever they run. */
export const mistralCallIds: CallIds = { valid: /^[a-zA-Z0-9]{9}$/, make: (hash) => hash.slice(0, 9) };

/** The id itself if valid, else a hash, equal for the call and its result. */
export function sentCallId(id: string, { valid, make }: CallIds): string {
  return valid.test(id) ? id : make(hashOf(id));
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARS);
}
