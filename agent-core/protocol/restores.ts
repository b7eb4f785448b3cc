/** Restores: the files, the conversation or both return to an earlier message of the user. */
import * as z from "zod";

const position = z.int().min(0);

/** `position`: of a user message. `withTexts`: the response includes the text that each file would get. */
export const HermesRestorePreviewRequest = z.object({
  sessionId: z.string(),
  position,
  withTexts: z.boolean().exactOptional(),
});

export const HermesRestoredFile = z.object({
  /** Absolute. */
  path: z.string(),
  change: z.enum(["restore", "remove", "recreate"]),
  /** Lines; missing when the agent did not count them. */
  added: z.number().exactOptional(),
  removed: z.number().exactOptional(),
  /** Reason why the file stays as it is. */
  leftAlone: z.string().exactOptional(),
  /** Text that the file would get, if requested and if it is text; null: no file. */
  text: z.string().nullable().exactOptional(),
});
export type HermesRestoredFile = z.infer<typeof HermesRestoredFile>;

/** Changes since then that no restore reverts, one sentence each. Default: none are known. */
export const restoreLimits = z.array(z.string()).readonly().exactOptional();

export const HermesRestorePreview = z.object({
  /** Files that differ from that time. */
  files: z.array(HermesRestoredFile).readonly(),
  limits: restoreLimits,
  /** Number of the user's messages that the conversation would lose. */
  messages: z.number(),
  /** Text of the user message. */
  prompt: z.string().nullable(),
});
export type HermesRestorePreview = z.infer<typeof HermesRestorePreview>;

export const HermesRestore = z.object({
  sessionId: z.string(),
  position,
  files: z.boolean(),
  conversation: z.boolean(),
});

export const HermesRestored = z.object({
  files: z.array(HermesRestoredFile).readonly(),
  limits: restoreLimits,
  /** Text of the user message, when the conversation was restored. */
  prompt: z.string().nullable(),
  /** Id for `undo`; missing when no file changed. */
  restoreId: z.string().exactOptional(),
});
export type HermesRestored = z.infer<typeof HermesRestored>;

export const HermesUndoRestore = z.object({ sessionId: z.string(), restoreId: z.string() });

/** All are refused (-32600) while a turn runs. */
export const restoreMethods = {
  preview: {
    name: "_hermes/session/restore_preview",
    params: HermesRestorePreviewRequest,
    result: HermesRestorePreview,
  },
  restore: { name: "_hermes/session/restore", params: HermesRestore, result: HermesRestored },
  /** Gives files the content that they had before a restore. */
  undo: { name: "_hermes/session/undo_restore", params: HermesUndoRestore, result: HermesRestored },
};
