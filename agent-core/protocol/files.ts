/** Whole files through the client: guarded writes, moves and deletions, and files that the user saves. */
import * as z from "zod";
import { nothing } from "./method.ts";

/** Text that a file must hold; `absent`: there must be no file. */
export const ExpectedText = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("absent") }),
  z.object({ kind: z.literal("text"), text: z.string() }),
]);

/**
 * `_meta.hermes` of `fs/read_text_file`: the agent reads the disk itself and asks for unsaved text alone. Without any the
 * response's `content` is empty, and its `_meta.hermes` is `HermesReadResult`.
 */
export const HermesReadMeta = z.object({ unsavedOnly: z.literal(true) });
export type HermesReadMeta = z.infer<typeof HermesReadMeta>;

export const HermesReadResult = z.object({ isSaved: z.literal(true) });
export type HermesReadResult = z.infer<typeof HermesReadResult>;

/** `_meta.hermes` of `fs/write_text_file`: the client refuses the write (-32010) when the document holds another text. */
export const HermesWriteMeta = z.object({ expected: ExpectedText });
export type HermesWriteMeta = z.infer<typeof HermesWriteMeta>;

/** `_meta.hermes` of the response to a guarded change of a file. */
export const HermesWriteResult = z.object({
  /** Present when the user reviewed the change first. Counts are hunks. */
  review: z
    .object({
      /** Text of the file after the write; null: there is no file. */
      text: z.string().nullable(),
      /** Text of the file at the moment of writing. */
      before: z.string().nullable().exactOptional(),
      kept: z.number(),
      rejected: z.number(),
    })
    .exactOptional(),
  /** Text that the client shows after the write (null: no file); `isSaved`: the disk has it, in UTF-8. */
  shown: z.object({ text: z.string().nullable(), isSaved: z.boolean() }).exactOptional(),
});
export type HermesWriteResult = z.infer<typeof HermesWriteResult>;

/** `data` of a refused change: the file's present text; null: there is no file. */
export const HermesConflict = z.object({ present: z.string().nullable() });
export type HermesConflict = z.infer<typeof HermesConflict>;

/** `text`: null removes the file. */
export const HermesRevert = z.object({
  sessionId: z.string(),
  path: z.string(),
  text: z.string().nullable(),
  expected: ExpectedText,
});
export type HermesRevert = z.infer<typeof HermesRevert>;

export const HermesRemove = z.object({ sessionId: z.string(), path: z.string(), expected: z.string() });
export type HermesRemove = z.infer<typeof HermesRemove>;

export const HermesMove = z.object({
  sessionId: z.string(),
  from: z.string(),
  to: z.string(),
  expected: z.string(),
});
export type HermesMove = z.infer<typeof HermesMove>;

export const HermesFileSaved = z.object({ path: z.string() });

/** The user's decision on lines of a file that the agent changed. Lines that hunks add and lines that they remove both count. */
export const HermesReviewed = z.object({
  path: z.string(),
  /** `retyped`: the user wrote other text in place of the agent's. */
  outcome: z.enum(["kept", "undone", "retyped"]),
  lines: z.number().int().positive(),
});
export type HermesReviewed = z.infer<typeof HermesReviewed>;

/** The user's decision about all edits of a file so far, by its absolute path; `redone` ends an undo. */
export const HermesSettled = z.object({ path: z.string(), outcome: z.enum(["kept", "undone", "redone"]) });
export type HermesSettled = z.infer<typeof HermesSettled>;

/** Absolute paths of the files in the editor's tabs. */
export const HermesOpenFiles = z.object({ active: z.string().nullable(), open: z.array(z.string()) });
export type HermesOpenFiles = z.infer<typeof HermesOpenFiles>;

/** A file in the folders of a session, for a client on another machine. */
export const HermesReadFile = z.object({ sessionId: z.string(), path: z.string() });

/** The user's change of such a file. `expected`: text that it must hold. */
export const HermesWriteFile = HermesReadFile.extend({ expected: z.string(), text: z.string() });

/** Response of a client that reports the result of the change. */
export const writeResponse = z.object({ _meta: z.object({ hermes: HermesWriteResult }) });
/** JSON-RPC error code of a refused change; `message` says what differs, `data` is `HermesConflict`. */
export const WRITE_CONFLICT = -32010;

/** Every request of the agent for a change is refused (-32010) when the document holds anything but `expected`. */
export const fileMethods = {
  /** Agent → client: delete a file. */
  remove: { name: "_hermes/fs/remove", params: HermesRemove, result: z.union([writeResponse, nothing]) },
  /** Agent → client: move a file. */
  rename: { name: "_hermes/fs/rename", params: HermesMove, result: nothing },
  /** Agent → client: give a file an earlier text, through its document and without review. */
  revert: { name: "_hermes/fs/revert", params: HermesRevert, result: z.union([writeResponse, nothing]) },
  /** Agent → client: the files that the user has open, for the prompt of a new session. */
  open: { name: "_hermes/editor/files", params: nothing, result: HermesOpenFiles },
  /** Client → agent: text of a file on the agent's machine. Refused outside the session's folders. */
  read: { name: "_hermes/fs/read", params: HermesReadFile, result: z.object({ text: z.string() }) },
  /** The same: writes one. Refused (-32010) when it holds another text. */
  write: { name: "_hermes/fs/write", params: HermesWriteFile, result: nothing },
  /** Client → agent: the user saved a file. The agent does not count it as a change of a command that runs. */
  saved: { name: "_hermes/file_saved", params: HermesFileSaved },
  /** Client → agent: the user decided on an edit. The journal of the session that made the edit keeps it. */
  reviewed: { name: "_hermes/file_reviewed", params: HermesReviewed },
  /** The same for a whole file. Journals of open sessions that edited it keep it, for the cards of a replay. */
  settled: { name: "_hermes/file_settled", params: HermesSettled },
};
