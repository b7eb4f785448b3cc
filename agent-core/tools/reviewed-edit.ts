/** What the model is told of an edit that the user decided about before it was written. */
import type { WriteReview } from "../host/host.ts";
import { type Edit, unifiedDiff } from "./edit-result.ts";
import { shownPath } from "./resolve-path.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

/** What a change of a file is called; null stands for no file. */
export function verbFor(oldText: string | null, text: string | null): string {
  if (text === null) return "Deleted";
  return oldText === null ? "Created" : "Changed";
}

/** Says what was written and what was not, and notes the text that the file has now. */
export function reviewedResult(
  { tool, path, oldText, newText }: Edit,
  { text, kept, rejected }: WriteReview,
  { files, cwd }: ToolContext,
): ToolResult {
  const shown = shownPath(path, cwd);
  if (text === null) files.forget(path);
  else files.wrote(path, oldText ?? "", text);
  const hunks = kept + rejected === 1 ? "the change" : `all ${kept + rejected} changes`;
  if (kept === 0) {
    return { ok: false, text: `${tool}: the user reviewed and rejected ${hunks}; nothing was written to ${shown}.` };
  }
  const diffs = [{ path, oldText, newText: text }];
  const what = verbFor(oldText, text);
  const written = unifiedDiff(shown, oldText ?? "", text ?? "");
  if (rejected === 0) return { ok: true, text: `${what} ${shown}; the user accepted ${hunks}.\n${written}`, diffs };
  const missing = unifiedDiff(shown, text ?? "", newText);
  const verdict = `the user accepted ${kept} of ${kept + rejected} changes`;
  return {
    ok: true,
    text: `${what} ${shown}, but ${verdict}. Written:\n${written}\nRejected by the user, not in the file:\n${missing}`,
    diffs,
  };
}
