/** Edits that rest on an old reading are refused: the user's or another program's change must not be lost. */
import { unifiedDiff } from "./edit-result.ts";
import { shownPath } from "./resolve-path.ts";
import type { ToolContext } from "./tool.ts";

/** Undefined when the model never read the file or knows its present text. */
export function staleReason(path: string, present: string, { files, cwd }: ToolContext): string | undefined {
  const known = files.recall(path);
  if (known === undefined || known === present) return undefined;
  const shown = shownPath(path, cwd);
  return `${shown} has changed since you read it; nothing was written. Read it again. What changed:\n${unifiedDiff(shown, known, present)}`;
}
