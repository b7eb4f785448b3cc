/** Which problems an edit has brought: those found after it that were not there before, mapped through the edit. Pure. */
import type { EditedFile, FileProblems, Problem } from "../../host/problems.ts";
import { diffIslands } from "../diff-islands.ts";

/** Lines of both texts that differ, 0-based, without their ends. */
type ChangedLines = {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
};

/**
 * The problems of `after` without those of `before`. A problem is the same when it says the same on the line that its
 * old line has become; in lines that the edit rewrote, anywhere among them. `edit` is undefined for a file that was not
 * edited itself.
 */
export function newProblems({ before, after }: FileProblems, edit: EditedFile | undefined): readonly Problem[] {
  if (before.length === 0 || after.length === 0) return after;
  const changes = edit === undefined ? [] : changedLines(edit.oldText ?? "", edit.newText ?? "");
  const known = new Map<string, number>();
  for (const problem of before) {
    const key = `${placeBefore(problem.line - 1, changes)} ${wordsOf(problem)}`;
    known.set(key, (known.get(key) ?? 0) + 1);
  }
  return after.filter((problem) => {
    const key = `${placeAfter(problem.line - 1, changes)} ${wordsOf(problem)}`;
    const count = known.get(key) ?? 0;
    if (count > 0) known.set(key, count - 1);
    return count === 0;
  });
}

function wordsOf({ severity, source, code, message }: Problem): string {
  return JSON.stringify([severity, source, code, message]);
}

/** A line by its number in the new text, or the change that it is part of. */
function placeBefore(line: number, changes: readonly ChangedLines[]): string {
  let moved = 0;
  for (const [index, { oldFrom, oldTo, newTo }] of changes.entries()) {
    if (line < oldFrom) break;
    if (line < oldTo) return `change ${index}`;
    moved = newTo - oldTo;
  }
  return String(line + moved);
}

function placeAfter(line: number, changes: readonly ChangedLines[]): string {
  const index = changes.findIndex(({ newFrom, newTo }) => line >= newFrom && line < newTo);
  return index < 0 ? String(line) : `change ${index}`;
}

function changedLines(oldText: string, newText: string): readonly ChangedLines[] {
  const oldLine = lineCounter(oldText);
  const newLine = lineCounter(newText);
  return diffIslands(oldText, newText).map(({ oldFrom, oldTo, newFrom, newTo }) => ({
    oldFrom: oldLine(oldFrom),
    oldTo: oldLine(oldTo),
    newFrom: newLine(newFrom),
    newTo: newLine(newTo),
  }));
}

/** Gives the line of offsets that only grow; an end within the last line counts that line. */
function lineCounter(text: string): (offset: number) => number {
  let at = 0;
  let line = 0;
  return (offset) => {
    for (let next = text.indexOf("\n", at); next >= 0 && next < offset; next = text.indexOf("\n", at)) {
      line += 1;
      at = next + 1;
    }
    return offset === text.length && at < offset ? line + 1 : line;
  };
}
