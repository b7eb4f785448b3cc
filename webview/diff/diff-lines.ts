/** A diff as lines to show: a few lines of context around each change. */
import { structuredPatch } from "diff";

const CONTEXT_LINES = 2;
/** Comparing two large, different texts can take for ever; this takes about 300 ms. */
const MAX_CHANGED_LINES = 1_500;

export type DiffLine = {
  readonly type: "added" | "removed" | "context" | "gap";
  readonly text: string;
  /** 1-based, in the new text (old text for removed lines); undefined for a gap. */
  readonly number: number | undefined;
};

export type DiffSummary = { readonly lines: readonly DiffLine[]; readonly added: number; readonly removed: number };

/** Undefined when the texts differ too much to be compared. */
export function diffSummary(oldText: string, newText: string): DiffSummary | undefined {
  const patch = structuredPatch("", "", oldText, newText, "", "", {
    context: CONTEXT_LINES,
    maxEditLength: MAX_CHANGED_LINES,
  });
  if (patch === undefined) return undefined;
  const lines = patch.hunks.flatMap((hunk, index): DiffLine[] => {
    const shown = hunkLines(hunk);
    return index === 0 ? shown : [{ type: "gap", text: "", number: undefined }, ...shown];
  });
  return {
    lines,
    added: lines.filter(({ type }) => type === "added").length,
    removed: lines.filter(({ type }) => type === "removed").length,
  };
}

type Hunk = { readonly oldStart: number; readonly newStart: number; readonly lines: readonly string[] };

function hunkLines({ oldStart, newStart, lines }: Hunk): DiffLine[] {
  let [oldLine, newLine] = [oldStart, newStart];
  return lines.flatMap((line): DiffLine[] => {
    const text = line.slice(1).replace(/\r$/, "");
    switch (line[0]) {
      case "+":
        return [{ type: "added", text, number: newLine++ }];
      case "-":
        return [{ type: "removed", text, number: oldLine++ }];
      case " ":
        oldLine += 1;
        return [{ type: "context", text, number: newLine++ }];
      default:
        return []; // "\ No newline at end of file"
    }
  });
}
