/** What the journal says of changed files: by it they can be put back. */
import * as z from "zod";

const fileState = z.object({
  /** SHA-256 of the bytes on the disk (of a link: of its target), a name in the checkpoints' store; null: no file. */
  hash: z.string().nullable(),
  /** Permission bits. */
  mode: z.number(),
  link: z.literal(true).exactOptional(),
  /** SHA-256 of the text that the editor held unsaved. */
  unsaved: z.string().exactOptional(),
});

/** A file as it stood at a moment. */
export type FileState = z.infer<typeof fileState>;

/** `null`: there was no file. `unknown`: there was one, and no copy of it was kept. */
const earlier = z.union([fileState, z.null(), z.literal("unknown")]);

export const fileChange = z.object({
  type: z.literal("file-change"),
  /** Absolute. */
  path: z.string(),
  by: z.enum(["edit", "command", "restore"]),
  /** Id of the tool call, or of the restore. */
  source: z.string(),
  before: earlier,
  after: fileState.nullable(),
  /** Folders that came into being with it, absolute, the outermost first. */
  folders: z.array(z.string()).exactOptional(),
  /** Position that the session's next message had then. */
  position: z.number(),
  at: z.number(),
});

/** Files are put back to what they were before the message at `position`; without an `end` it was interrupted. */
export const restoreEntry = z.object({
  type: z.literal("restore"),
  id: z.string(),
  phase: z.enum(["begin", "end"]),
  position: z.number(),
  at: z.number(),
});

/** A change of one file as the journal tells it. */
export type FileChange = Omit<z.infer<typeof fileChange>, "type" | "at">;
