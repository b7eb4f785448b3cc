/** Reads text that need not be JSON. */
import { jsonrepair } from "jsonrepair";

const BYTE_ORDER_MARK = "\ufeff";

/** Value of JSON; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  } catch {
    return undefined;
  }
}

/** Value of JSON as models write it, with small faults; undefined for text that even a repair does not make JSON. */
export function parseRepairedJson(text: string): unknown {
  try {
    return JSON.parse(jsonrepair(text));
  } catch {
    return undefined;
  }
}
