/** Reads JSON as people and editors write it: with comments, trailing commas and a byte order mark. */
import { type ParseError, parse } from "jsonc-parser";
import { attempt } from "./errors.ts";

/** Value of the text; undefined for a text with any other fault. */
export function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  // A text may be nested deeper than the stack of this process.
  const value: unknown = attempt(() => parse(text.replace(/^\ufeff/, ""), errors, { allowTrailingComma: true }));
  return errors.length > 0 ? undefined : value;
}
