/** What the model gets back of an edit: a unified diff, cut when it is long. */
import { createTwoFilesPatch } from "diff";

/** What a tool wants to write. */
export type Edit = {
  /** For messages. */
  readonly tool: string;
  /** Absolute. */
  readonly path: string;
  /** Null for a new file. */
  readonly oldText: string | null;
  readonly newText: string;
};

const MAX_DIFF_LINES = 200;
/** Comparing two large, different texts can take for ever; a diff that needs longer is left out. */
const DIFF_TIMEOUT_MS = 500;

/** Empty when the texts are equal. `path` is what to show. */
export function unifiedDiff(path: string, oldText: string, newText: string): string {
  if (oldText === newText) return "";
  const patch = createTwoFilesPatch(path, path, oldText, newText, undefined, undefined, {
    context: 3,
    timeout: DIFF_TIMEOUT_MS,
  });
  if (patch === undefined) return "[the diff is too large to show]";
  const lines = patch.split("\n");
  // The package's own heading says nothing that the file names below it do not.
  lines.splice(
    0,
    lines.findIndex((line) => line.startsWith("---")),
  );
  if (lines.length <= MAX_DIFF_LINES) return lines.join("\n").trimEnd();
  return `${lines.slice(0, MAX_DIFF_LINES).join("\n")}\n[… ${lines.length - MAX_DIFF_LINES} more lines of diff]`;
}
