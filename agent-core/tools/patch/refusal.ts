/** A refused edit, with advice that grows plainer when the same file refuses edits in a row. */
import type { StagedCall, ToolContext } from "../tool.ts";

/** By how often the file has refused an edit without taking one; original-agent-facts.md §6.1. */
const ADVICE: readonly string[] = [
  "",
  " This is the second edit in a row that this file refuses: read the part you mean with read_file before the next try.",
  " Do not guess again: read the file with read_file and copy the text as it stands, or give the whole new text with write_file.",
];

/** `path` is absolute. */
export function refusedEdit(path: string, text: string, { files }: ToolContext): StagedCall {
  const times = files.refused(path);
  const advice = ADVICE[Math.min(times, ADVICE.length) - 1] ?? "";
  return { ok: false, text: `patch: ${text}${advice}` };
}
