/** A model writes plain line feeds; a file keeps the line ends that it has. Pure. */
import { diffArrays } from "diff";

/**
 * Comparing two large, different texts can take for ever: of more changed lines (half a second), all end as most of
 * the file's do. No time: what a file comes to must not hang on how busy the machine is.
 */
const MAX_CHANGED_LINES = 2_000;

/** The new text of a whole file: lines that stay keep their own line end, others get that of the line that they replace. */
export function inFileEndings(present: string, content: string): string {
  if (!present.includes("\r\n")) return content;
  const plain = content.replace(/\r\n/g, "\n");
  if (!/(^|[^\r])\n/.test(present)) return plain.replace(/\n/g, "\r\n");
  return inMixedEndings(linesOf(present), linesOf(plain)) ?? plain;
}

/** Undefined when the texts are too different to compare. */
function inMixedEndings(present: readonly string[], content: readonly string[]): string | undefined {
  const changes = diffArrays([...present], [...content], {
    comparator: (one, other) => withoutBreak(one) === withoutBreak(other),
    maxEditLength: MAX_CHANGED_LINES,
  });
  if (changes === undefined) return undefined;
  const lines: string[] = [];
  let at = 0;
  for (const { added, removed, value } of changes) {
    if (added) {
      const end = breakOf(present[at - 1] ?? present[at] ?? "\n");
      lines.push(...value.map((line) => line.replace(/\n$/, end)));
    } else if (!removed) {
      lines.push(...present.slice(at, at + value.length));
    }
    if (!added) at += value.length;
  }
  const text = lines.join("");
  return content.at(-1)?.endsWith("\n") ? text : text.replace(/\r?\n$/, "");
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function withoutBreak(line: string): string {
  return line.replace(/\r?\n$/, "");
}

function breakOf(line: string): string {
  return line.endsWith("\r\n") ? "\r\n" : "\n";
}
