/**
 * Port for the tools' access to files, search, terminals and problems. NodeHost implements it for this machine, AcpHost for
 * the client's editor. Questions and permission requests are callbacks of the agent instead (agent/callbacks.ts).
 */
import type * as z from "zod";
import type { HermesFileProblems, HermesNewProblem, HermesProblem } from "../protocol/editor.ts";
import type { HermesWriteResult } from "../protocol/files.ts";
import type { RequestMethod } from "../protocol/method.ts";
import type { HostTerminals } from "./terminals/terminals.ts";

/** Reason why a file could not be read or written; `message` is one sentence for the model, naming the path. */
export type FileFailure = {
  readonly ok: false;
  readonly reason: "missing" | "directory" | "binary" | "encoding" | "too-large" | "denied" | "conflict" | "failed";
  readonly message: string;
  /** For `conflict`: text that the file holds instead of the expected one; null where there is no file. */
  readonly present?: string | null;
};

/** A text file as the user sees it: without its byte order mark, line endings as they are. */
export type FileText = {
  readonly ok: true;
  readonly text: string;
  /** `editor` when the text came from an open, possibly unsaved document. */
  readonly source: "disk" | "editor";
  /** A byte order mark precedes the text on the disk. */
  readonly hasMark?: boolean;
  /** Encoding on the disk; absent for UTF-8. */
  readonly encoding?: string;
  /** Reason why this may not be the user's text, as a sentence. Such a file is not changed. */
  readonly doubt?: string;
};

export type FileStat = { readonly kind: "file" | "directory" | "other"; readonly size: number };

/** Content of a path on the disk; a link is its own content, not that of its target. */
export type DiskEntry =
  | { readonly kind: "file"; readonly bytes: Buffer; readonly mode: number }
  | { readonly kind: "link"; readonly target: string; readonly mode: number };

/**
 * A change of one file, made only if the file holds `expected`. Null means no file: `expected` null creates it,
 * `after` null removes it (of a symbolic link the link itself).
 */
export type FileWrite = {
  /** Absolute. */
  readonly path: string;
  readonly expected: string | null;
  readonly after: string | null;
  /** A revert is never up for review, and a file that is already gone counts as removed. */
  readonly purpose: "edit" | "revert";
  /** Gets the content that the write replaces, before anything changes; the write waits for it. */
  readonly keep?: (before: DiskEntry | null) => Promise<void>;
};

/** The user's decision about an edit; `text` is the file's text now (null: no file). Hunks are counted. */
export type WriteReview = NonNullable<HermesWriteResult["review"]> & {
  /** Text that the user accepted, where the editor changed it as it saved the file, such as with a formatter. */
  readonly accepted?: string | null;
};

/** Content of the disk after a write; `entry` null: no file. */
export type DiskAfter = {
  readonly entry: DiskEntry | null;
  /** Text that an editor shows and has not saved. */
  readonly unsaved?: string;
};

export type FileWritten = {
  readonly ok: true;
  /** Present when the user decided before anything was written; otherwise the whole text was written. */
  readonly review?: WriteReview;
  /** Absent if the writer does not know the disk. */
  readonly disk?: DiskAfter;
  /** Text of the file where the editor changed the written one as it saved it, such as with a formatter. Never beside `review`. */
  readonly formatted?: string;
  /** Restores a removed file byte by byte, with its mode or as a link. */
  readonly restore?: () => Promise<FileWritten | FileFailure>;
};

/** Paths are absolute; `expected` is the text that the file must hold. */
export type FileMove = { readonly from: string; readonly to: string; readonly expected: string };

/** Lines of a text; `first` counts from 1. */
export type LineRange = { readonly first: number; readonly count: number };

export type HostFiles = {
  /**
   * Reads a whole text file (at most 50 MB), in the encoding that its bytes show. `path` is absolute. `needed`: only unsaved changes of these lines
   * matter.
   */
  readText(path: string, signal: AbortSignal, needed?: LineRange): Promise<FileText | FileFailure>;
  /**
   * The only method that changes a file's text. As its last step before the change it checks that the file holds `expected`;
   * refuses with `conflict` and the present text otherwise. Creates missing folders, keeps encoding, byte order mark and mode,
   * writes through symbolic links. Writes of one file run one after the other.
   */
  guardedWrite(write: FileWrite, signal: AbortSignal): Promise<FileWritten | FileFailure>;
  /**
   * Moves a file that holds `expected` to a free path; creates missing folders. A symbolic link moves itself, and is
   * refused if it would no longer point to its file.
   */
  rename(move: FileMove, signal: AbortSignal): Promise<FileWritten | FileFailure>;
  /** Undefined when nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Names in a folder, empty when it cannot be read. */
  list(folder: string): Promise<readonly string[]>;
};

export type SearchRequest = {
  readonly target: "content" | "files";
  /** `content`: a regular expression (Rust/PCRE-like subset); `files`: a glob or part of a name. */
  readonly pattern: string;
  /** The pattern is text, not an expression. Default: false. */
  readonly isPlain?: boolean;
  /** Absolute folder or file. */
  readonly root: string;
  /** Only files whose name matches this glob, or whose path in `root` does where it has a slash. */
  readonly fileGlob?: string;
  /** `counts`, `files`: one hit for each file that has matches. Default: one for each line. */
  readonly hits?: "lines" | "counts" | "files";
  /** Lines of context on either side of a match; default 0. */
  readonly contextLines?: number;
};

/** One line of a content search, or one file (then `line` is 0 and `text` empty). */
export type SearchHit = {
  readonly path: string;
  /** 1-based; 0 for a file hit. */
  readonly line: number;
  /** At most 10,000 characters around the first match. */
  readonly text: string;
  /** Place of the first match in `text`. */
  readonly column?: number;
  /** Matches in the file, where they are counted. */
  readonly count?: number;
  readonly isContext: boolean;
};

export type SearchResult =
  | {
      readonly ok: true;
      /** Sorted by path, then line; at most 10,000. */
      readonly hits: readonly SearchHit[];
      /** True when the search stopped at its own ceiling. */
      readonly truncated: boolean;
      readonly engine: "ripgrep" | "built-in";
    }
  | { readonly ok: false; readonly message: string };

export type HostSearch = {
  /** Respects ignore files (.gitignore, .ignore) and skips binary files and `.git`. */
  search(request: SearchRequest, signal: AbortSignal): Promise<SearchResult>;
};

export type Host = {
  readonly files: HostFiles;
  readonly search: HostSearch;
  readonly terminals: HostTerminals;
  readonly problems: HostProblems;
  /** Undefined without an editor that knows the code. */
  readonly editor?: HostEditor;
};

/**
 * Asks the editor, with one of the `editorMethods`. Rejects with an Error for the model in one sentence, or with the signal's
 * reason.
 */
export type HostEditor = <Params extends z.ZodType, Result extends z.ZodType>(
  method: RequestMethod<Params, Result>,
  params: z.input<Params>,
  signal: AbortSignal,
) => Promise<z.output<Result>>;

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
  /** The edit waits this long for its problems. Default: as long as a parser takes. Milliseconds. */
  readonly waitMs?: number;
  /**
   * Waits until the problems have settled, a few seconds at most. Resolves to the problems of the edited files, and of
   * others whose problems have changed. Rejects with the signal's reason only.
   */
  settled(edits: readonly EditedFile[], signal: AbortSignal): Promise<readonly FileProblems[]>;
};

/** Problems in files before and after an edit. */
export type HostProblems = {
  /** Starts before the edit; `id` is the id of its tool call. */
  watch(id: string): Promise<ProblemWatch>;
};

/** Question to the user. */
export type Question = {
  readonly question: string;
  /** Up to 4; a free answer is always possible. */
  readonly choices: readonly string[];
};

/** `unavailable`: no user can answer. */
export type Answer =
  | { readonly kind: "answered"; readonly text: string }
  | { readonly kind: "cancelled" }
  | { readonly kind: "unavailable" };
