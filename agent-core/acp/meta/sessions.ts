/** Stored and open sessions: beginning, listing, searching, importing, paging and taking back. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { ImportReport } from "../../sessions/import/import-sessions.ts";
import type { Building } from "../../sessions/index/questions.ts";

/** `_meta.hermes` of `session/new` and `session/load`. */
export type HermesSessionMeta = {
  /** Whether the user trusts the workspace. */
  readonly trusted?: boolean;
  /** The model that a new session begins with: an id of the config option `model`. */
  readonly model?: string;
};

/**
 * `_meta.hermes` of `session/load`: only the last turns are replayed, as few as hold so many messages, tool results
 * included (of a turn of hundreds its last steps); at least 1, default: all. The rest comes with `_hermes/session/earlier`.
 */
export type HermesLoadMeta = HermesSessionMeta & { readonly tail?: number };

/** What was said before the part of a session that a client has. */
export type HermesEarlier = {
  /** Position of the first message that it has: what a page of earlier ones is asked for with. */
  readonly before: number;
  /** Prompts and answers before it, counted as those of a listed session. */
  readonly messages: number;
};

/** `_meta.hermes` of the `session_info_update` that such a replay begins with; absent when it is whole. */
export type HermesEarlierMeta = { readonly earlier: HermesEarlier };

/** Journals that are read, and how many there are to read. */
export type HermesBuilding = Building;

/** `_meta.hermes` of the answer to `session/list`: the index is being built, and only what is read so far is listed. */
export type HermesListMeta = { readonly building?: HermesBuilding };

/**
 * Agent → client: the index of sessions is being built; `done` is `total` when it is done. Only where
 * `sessionIndex` is declared.
 */
export const INDEX_BUILDING = "_hermes/sessions/building";

/** Agent → client: how far an import is. Only where `sessionIndex` is declared. */
export const IMPORTING = "_hermes/sessions/importing";

/** Agent → client: lists of sessions are out of date. Only where `sessionIndex` is declared. */
export const SESSIONS_CHANGED = "_hermes/sessions/changed";

/** `_meta.hermes` of a session in the answer to `session/list`. */
export type HermesListedSession = {
  /** Prompts and answers that stand. */
  readonly messages: number;
  /** Where it was brought over from; absent: it began here. */
  readonly source?: string;
  /** In US dollars; absent when nothing is known of it. */
  readonly costUsd?: number;
};

/** `_meta.hermes` of `session/fork`: only what was said before this position is taken over; default: all. */
export type HermesForkMeta = { readonly position?: number };

/** Requests of ours about stored and open sessions; an agent that does not know them answers -32601. */
export const HERMES_SESSION_METHODS = {
  /** HermesRename → {} */
  rename: "_hermes/session/rename",
  /** HermesExport → HermesExported */
  export: "_hermes/session/export",
  /** HermesSearch → HermesSearchHits */
  search: "_hermes/session/search",
  /** HermesEarlierRequest → HermesEarlierPage: what a session that was loaded by its tail begins with. */
  earlier: "_hermes/session/earlier",
  /** HermesRewind → HermesRewound: takes back what was said from a position on. Refused (-32600) while a turn runs. */
  rewind: "_hermes/session/rewind",
  /** HermesRestorePreviewRequest → HermesRestorePreview: what going back to a message of the user's would do. */
  restorePreview: "_hermes/session/restore_preview",
  /** HermesRestore → HermesRestored. Refused (-32600) while a turn runs. */
  restore: "_hermes/session/restore",
  /** HermesImport → HermesImported: brings the sessions of an original Hermes home over. Refused (-32603) with why. */
  import: "_hermes/sessions/import",
  /** HermesUndoRestore → HermesRestored: puts the files back to what they were before a restore. */
  undoRestore: "_hermes/session/undo_restore",
} as const;

export type HermesRename = { readonly sessionId: string; readonly title: string };

export type HermesExport = { readonly sessionId: string; readonly format: "markdown" | "json" };

/** `fileName` is a proposal without a folder. */
export type HermesExported = { readonly text: string; readonly fileName: string };

/**
 * In titles and messages: words, "phrases", OR and prefix*. A word of three letters or more that nothing follows, not even a
 * blank, may be the beginning of a longer one. `cwd`: only sessions of this folder; `limit`: 1 to 500, default 50.
 */
export type HermesSearch = { readonly query: string; readonly cwd?: string; readonly limit?: number };

export type HermesSearchHits = {
  /** Best first, one a session. */
  readonly hits: readonly {
    readonly sessionId: string;
    readonly title: string | null;
    readonly cwd: string;
    /** ISO 8601. */
    readonly updatedAt: string;
    readonly messages: number;
    readonly costUsd?: number;
    /** Of the message that was found; absent when it was the title. */
    readonly position?: number;
    /** Around the first place that was found; `marks` are ranges of it, in order. */
    readonly snippet: string;
    readonly marks: readonly (readonly [start: number, end: number])[];
  }[];
  /** The index is being built, and only what is read so far was searched. */
  readonly building?: HermesBuilding;
};

export type HermesImport = {
  /** `state.db` or its folder, absolute; default: in Hermes' own home. */
  readonly path?: string;
  /** Also sessions that were imported once and deleted since; default: no. */
  readonly again?: boolean;
};

/** A second import adds only what is new. `summary`: the same in words. */
export type HermesImported = ImportReport & { readonly summary: string };

/** `messages`: as `tail` of HermesLoadMeta; default: all. */
export type HermesEarlierRequest = { readonly sessionId: string; readonly before: number; readonly messages?: number };

/** Null when nothing is earlier than that. */
export type HermesEarlierPage = { readonly updates: readonly SessionUpdate[]; readonly earlier: HermesEarlier | null };

export type HermesRewind = { readonly sessionId: string; readonly position: number };

/** What the user's message at that position said, as text; null when it was none of the user's. */
export type HermesRewound = { readonly prompt: string | null };
