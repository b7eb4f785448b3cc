/** A syntax error at an offset of a text. */
import type { Problem } from "../problems.ts";

export function problemAt(text: string, offset: number, message: string): Problem {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < lineStart; at = text.indexOf("\n", at + 1)) line += 1;
  return { line, column: offset - lineStart + 1, severity: "error", source: "syntax", message };
}
