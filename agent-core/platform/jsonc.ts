/** Reads JSON as people and editors write it: with comments, trailing commas and a byte order mark. */
import { type ParseError, parse } from "jsonc-parser";

/** Value of the text; undefined for a text with any other fault. */
export function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  try {
    const value: unknown = parse(text.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true });
    return errors.length > 0 ? undefined : value;
  } catch {
    return undefined; // nested deeper than the stack of this process
  }
}
