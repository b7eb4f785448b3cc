/**
 * The port through which tools act on the world: files, search, terminals, and seeing what is broken.
 * Two implementations: NodeHost (this machine) and AcpHost (the client's editor, where it offers that).
 * Questions and approvals are not here: they are callbacks of the agent (agent/callbacks.ts).
 */

import type { HostProblems } from "./problems.ts";
import type { HostTerminals } from "./terminals/terminals.ts";

/** Why a file could not be read or written; `message` is one sentence for the model, naming the path. */
export type FileFailure = {
  readonly ok: false;
  readonly reason: "missing" | "directory" | "binary" | "encoding" | "too-large" | "denied" | "conflict" | "failed";
  readonly message: string;
};

/** A text file as the user sees it: without its byte order mark, line endings as they are. */
export type FileText = {
  readonly ok: true;
  readonly text: string;
  /** `editor` when the text came from an open, possibly unsaved document. */
  readonly source: "disk" | "editor";
};

export type FileStat = { readonly kind: "file" | "directory" | "other"; readonly size: number };

/** What the file must hold at the moment of writing; anything else is refused with `conflict`. */
export type ExpectedText = { readonly kind: "absent" } | { readonly kind: "text"; readonly text: string };

/** What the user let be written of an edit; `text` is what the file holds now (null: there is none). Hunks are counted. */
export type WriteReview = {
  readonly text: string | null;
  /** What it held at the moment of writing; absent where that is not told. */
  readonly before?: string | null;
  readonly kept: number;
  readonly rejected: number;
};

/** `review` is there when the user decided before anything was written; otherwise the whole text was. */
export type FileWritten = { readonly ok: true; readonly review?: WriteReview };

/** `bringBack` gives back what stood there, to the byte and as it was (mode, link), where that is known here. */
export type FileRemoved = FileWritten & { readonly bringBack?: () => Promise<FileWritten | FileFailure> };

/** Paths are absolute; `expected` is the text that the file must hold. */
export type FileMove = { readonly from: string; readonly to: string; readonly expected: string };

export type HostFiles = {
  /** Reads a whole UTF-8 text file (at most 50 MB). `path` is absolute. */
  readText(path: string, signal: AbortSignal): Promise<FileText | FileFailure>;
  /**
   * Replaces a file's text, creating it and its folders when absent. Keeps byte order mark and mode, writes through
   * symbolic links. Never overwrites anything but `expected`.
   */
  writeText(
    path: string,
    text: string,
    expected: ExpectedText,
    signal: AbortSignal,
  ): Promise<FileWritten | FileFailure>;
  /** Removes a file that holds `expected`; of a symbolic link the link itself, never what it points to. */
  remove(path: string, expected: string, signal: AbortSignal): Promise<FileRemoved | FileFailure>;
  /**
   * Gives a file that holds `expected` another path, where nothing is; makes folders that are missing. A symbolic link
   * moves itself, and is refused where it would no longer lead to its file.
   */
  rename(move: FileMove, signal: AbortSignal): Promise<FileWritten | FileFailure>;
  /**
   * Gives a file an earlier text again, or takes it away (null): as `writeText`, but never up for review. Never
   * touches anything but `expected`.
   */
  putBack(
    path: string,
    text: string | null,
    expected: ExpectedText,
    signal: AbortSignal,
  ): Promise<FileWritten | FileFailure>;
  /** Undefined when nothing is there. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Names in a folder, empty when it cannot be read. */
  list(folder: string): Promise<readonly string[]>;
};

export type SearchRequest = {
  readonly target: "content" | "files";
  /** `content`: a regular expression (Rust/PCRE-like subset); `files`: a glob or part of a name. */
  readonly pattern: string;
  /** Absolute folder or file. */
  readonly root: string;
  /** Only files whose name matches this glob. */
  readonly fileGlob?: string;
  /** Lines of context on either side of a match; default 0. */
  readonly contextLines?: number;
};

/** One line of a content search, or one file of a file search (then `line` is 0 and `text` empty). */
export type SearchHit = {
  readonly path: string;
  /** 1-based; 0 for a file hit. */
  readonly line: number;
  readonly text: string;
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
};
