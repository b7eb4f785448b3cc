/** Going back to an earlier message, with the files as they were then. */

/** `position` is that of a message of the user's; `withTexts`: also what each text file would hold. */
export type HermesRestorePreviewRequest = {
  readonly sessionId: string;
  readonly position: number;
  readonly withTexts?: boolean;
};

/** A file of a restore. `leftAlone` says why it stays as it is; the numbers count lines, where they were counted. */
export type HermesRestoredFile = {
  /** Absolute. */
  readonly path: string;
  readonly change: "restore" | "remove" | "recreate";
  readonly added?: number;
  readonly removed?: number;
  readonly leftAlone?: string;
  /** What it would hold, when that was asked for and is text; null: nothing. */
  readonly text?: string | null;
};

export type HermesRestorePreview = {
  /** Only those that are not as they shall be. */
  readonly files: readonly HermesRestoredFile[];
  /** How many messages would be taken back with the conversation. */
  readonly messages: number;
  /** What the user's message there said. */
  readonly prompt: string | null;
};

export type HermesRestore = {
  readonly sessionId: string;
  readonly position: number;
  readonly files: boolean;
  readonly conversation: boolean;
};

export type HermesRestored = {
  readonly files: readonly HermesRestoredFile[];
  /** What the user's message said, when the conversation was taken back. */
  readonly prompt: string | null;
  /** By which what was done to files can be undone; absent when nothing was. */
  readonly restoreId?: string;
};

export type HermesUndoRestore = { readonly sessionId: string; readonly restoreId: string };
