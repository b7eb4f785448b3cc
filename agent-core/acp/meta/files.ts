/** Whole files through the client: guarded writes, moves and deletions, and what the user saves. */

/** `_meta.hermes` of `fs/write_text_file`: the write is refused (-32010) when the document holds anything else. */
export type HermesWriteMeta = {
  readonly expected: { readonly kind: "absent" } | { readonly kind: "text"; readonly text: string };
};

/**
 * `_meta.hermes` of the answer to `fs/write_text_file`: the user decided about the edit before it was written. `text` is
 * what the file holds now (null: there is none); the numbers count hunks.
 */
export type HermesWriteResult = {
  readonly review: {
    readonly text: string | null;
    /** What it held at the moment of writing. */
    readonly before?: string | null;
    readonly kept: number;
    readonly rejected: number;
  };
};

/**
 * Request of the agent: give a file an earlier text again (null: take it away), in its document, and not up for review.
 * Refused (-32010) when the file holds anything but `expected`.
 */
export const PUT_BACK = "_hermes/fs/put_back";
export type HermesPutBack = {
  readonly sessionId: string;
  readonly path: string;
  readonly text: string | null;
  readonly expected: HermesWriteMeta["expected"];
};

/** Requests of the agent about whole files; each is refused (-32010) when the document holds anything but `expected`. */
export const CLIENT_FILES = {
  /** HermesRemove → {}; `_meta.hermes` as of a write when the user decided first. */
  remove: "_hermes/fs/remove",
  /** HermesMove → {} */
  rename: "_hermes/fs/rename",
} as const;

export type HermesRemove = { readonly sessionId: string; readonly path: string; readonly expected: string };
export type HermesMove = {
  readonly sessionId: string;
  readonly from: string;
  readonly to: string;
  readonly expected: string;
};

/** JSON-RPC error code of a refused write; `message` says what changed. */
export const WRITE_CONFLICT = -32010;

/** Client → agent: the user saved a file. What commands change at the same time is told apart from it. */
export const FILE_SAVED = "_hermes/file_saved";

export type HermesFileSaved = { readonly path: string };
