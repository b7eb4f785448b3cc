/** Calls of the history as OpenAI's APIs take them; models and other providers write them as they like. */
import { createHash } from "node:crypto";

/** Longest name of a function. */
const NAME_CHARS = 64;
/** Of a hash that stands for something, in hexadecimal. */
const HASH_CHARS = 24;

/** A call that was cut off stays in the history, with the error as its result; servers with templates parse its JSON. */
export function sentArguments(json: string): string {
  return json.startsWith("{") && json.endsWith("}") ? json : "{}";
}

/** A name that the model made up has its error as the result; the API refuses it all the same. */
export function sentName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, NAME_CHARS) || "_";
}

/** The id itself when it is valid. The same stand-in for the same id, so that a call and its result find each other. */
export function sentCallId(id: string, valid: RegExp): string {
  return valid.test(id) ? id : `call_${hashOf(id)}`;
}

/** Short, and the same for the same text. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARS);
}
