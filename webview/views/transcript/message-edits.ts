/** Messages that are being changed: what was written so far, by the key of the entry. It outlives the entry's row. */
import { createContext } from "preact";

export const MessageEdits = createContext<Map<string, string>>(new Map());
