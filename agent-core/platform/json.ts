/** Reads text that need not be JSON. */
import { jsonrepair } from "jsonrepair";
import { attempt } from "./errors.ts";

const BYTE_ORDER_MARK = "\ufeff";

/** Value of JSON; undefined for any other text. */
export function parseJson(text: string): unknown {
  return attempt(() => JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text));
}

/** Value of JSON as models write it, with small faults; undefined for text that even a repair does not make JSON. */
export function parseRepairedJson(text: string): unknown {
  return attempt(() => JSON.parse(jsonrepair(text)));
}

/** True for an object that is no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The part of a JSON document that a local reference such as `#/$defs/a` names; undefined for none. */
export function jsonTarget(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  const steps = reference.split("/").slice(1);
  return steps.reduce<unknown>((found, step) => {
    const key = decodedUrl(step).replaceAll("~1", "/").replaceAll("~0", "~");
    return typeof found === "object" && found !== null && Object.hasOwn(found, key) ? Object(found)[key] : undefined;
  }, root);
}

/** The text itself when it is not URL-encoded, as in `#/$defs/50%`. */
export function decodedUrl(text: string): string {
  return attempt(() => decodeURIComponent(text)) ?? text;
}
