/** What a user must know of a stored session that is opened, one line each. */
import type { StoredSession } from "../sessions/read-journal.ts";
import { writeProblem } from "../sessions/write-fault.ts";

/** `folderProblem`: what is wrong with the working folder, as the rest of a sentence; undefined: nothing. */
export function storedNotes(
  { path, damagedLines }: StoredSession,
  cwd: string,
  folderProblem: string | undefined,
): readonly string[] {
  const fault = writeProblem(path);
  return [
    ...(damagedLines === 0 ? [] : [`${linesOf(damagedLines)} left out; everything else is here (${path}).`]),
    ...(fault === undefined ? [] : [`This session can be read but not saved: ${fault}.`]),
    ...(folderProblem === undefined ? [] : [`The folder ${cwd} ${folderProblem}. ${WITHOUT_FOLDER}`]),
  ];
}

const WITHOUT_FOLDER = "The conversation is all here, but commands and files have no place until there is one.";

function linesOf(count: number): string {
  return count === 1
    ? "1 line of this session's journal cannot be read and was"
    : `${count} lines of this session's journal cannot be read and were`;
}
