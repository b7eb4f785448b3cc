/** Edits that rest on an old reading are refused: the user's or another program's change must not be lost. */
import { unifiedDiff } from "./edit-result.ts";
import { shownPath } from "./resolve-path.ts";
import type { ToolContext } from "./tool.ts";
import { countUndone } from "./undone-edits.ts";

/** Of the diff: enough to see what the change is about; the file is read again anyway. */
const SHOWN_LINES = 40;

/** Undefined when the model never read the file or knows its present text. */
export function staleReason(path: string, present: string, { files, cwd }: ToolContext): string | undefined {
  const known = files.recall(path);
  if (known === undefined || known === present) return undefined;
  const shown = shownPath(path, cwd);
  const what = `What changed:\n${unifiedDiff(shown, known, present, SHOWN_LINES)}`;
  const undone = countUndone(known, present, files.textsBefore(path));
  if (undone === 0) return `${shown} has changed since you read it; nothing was written. Read it again. ${what}`;
  const edits = undone === 1 ? "1 of your edits" : `${undone} of your edits`;
  return `The user (or a command) undid ${edits} in ${shown}; nothing was written now. Do not repeat what was undone unless asked to, and read the file again before you change it. ${what}`;
}

/** Undefined when the model never read the missing file. It is told once: then it may make the file anew. */
export function deletedReason(path: string, { files, cwd }: ToolContext): string | undefined {
  if (files.recall(path) === undefined) return undefined;
  files.forget(path);
  return `${shownPath(path, cwd)} has been deleted or moved since you read it; nothing was written.`;
}
