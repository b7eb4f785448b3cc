/** Port for the problems in files before and after an edit. */
import type { HermesFileProblems, HermesNewProblem, HermesProblem } from "../protocol/problems.ts";

export type Problem = HermesProblem;
export type ReportedProblem = HermesNewProblem;
export type FileProblems = HermesFileProblems;

/** A file that an edit changed; null: no file. Paths are absolute. `movedFrom`: path of the old text and its problems. */
export type EditedFile = {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string | null;
  readonly movedFrom?: string;
};

/** Watch over one edit of one or more files. */
export type ProblemWatch = {
  /**
   * Waits until the problems have settled, a few seconds at most. Resolves to the problems of the edited files, and of
   * others whose problems have changed. Rejects with the signal's reason only.
   */
  settled(edits: readonly EditedFile[], signal: AbortSignal): Promise<readonly FileProblems[]>;
};

export type HostProblems = {
  /** Starts before the edit; `id` is the id of its tool call. */
  watch(id: string): Promise<ProblemWatch>;
};
