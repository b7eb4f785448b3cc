/** The port through which one sees what an edit has broken: what is wrong in files before it and after it. */

export type Problem = {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units. */
  readonly column: number;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Who found it: `ts`, `eslint`; absent where that is not told. */
  readonly source?: string;
  readonly code?: string;
};

/** A problem that came with an edit. `path` is absolute, `line` 1-based; `text` is one line that names all. */
export type ReportedProblem = {
  readonly path: string;
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly text: string;
};

/**
 * A file as an edit has changed it; null stands for no file. Paths are absolute. `movedFrom`: the old text stood there,
 * with its problems.
 */
export type EditedFile = {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string | null;
  readonly movedFrom?: string;
};

/** Lines of `before` are those of the old text, lines of `after` those of the new one. */
export type FileProblems = {
  readonly path: string;
  readonly before: readonly Problem[];
  readonly after: readonly Problem[];
};

/** One edit, of one file or several, as it is watched. */
export type ProblemWatch = {
  /**
   * Waits until those who find problems have had their time (a few seconds at most), and tells of the edited files and
   * of others whose problems have changed meanwhile. Rejects with the signal's reason only.
   */
  settled(edits: readonly EditedFile[], signal: AbortSignal): Promise<readonly FileProblems[]>;
};

export type HostProblems = {
  /** To be called before the edit is made; `id` is that of its tool call. */
  watch(id: string): Promise<ProblemWatch>;
};
