/** Memory across sessions: its entries with their origins, and the undo of a write. */
import * as z from "zod";
import { inSession, nothing } from "./method.ts";

/** `project`: notes that hold in one project. */
export const HermesMemoryTarget = z.enum(["memory", "project", "user"]);

export const HermesMemory = z.object({
  files: z
    .array(
      z.object({
        target: HermesMemoryTarget,
        /** Name of the project for `project`: its folder's name and a number. */
        project: z.string().exactOptional(),
        /** Absolute; the file may not exist yet. */
        path: z.string(),
        /** `origin`: writer and time in a phrase. */
        entries: z.array(z.object({ text: z.string(), origin: z.string() })).readonly(),
      }),
    )
    .readonly(),
});
export type HermesMemory = z.infer<typeof HermesMemory>;

/** `callId`: of a tool call, or of a notice about the memory. */
export const HermesMemoryUndo = inSession.extend({ callId: z.string() });

/** `message`: outcome in one line, for the user. `ok`: false when an entry was changed since then. */
export const HermesMemoryUndone = z.object({ ok: z.boolean(), message: z.string() });

export const memoryMethods = {
  /** Fails with -32603 when the memory is off or cannot be read. */
  list: { name: "_hermes/memory/list", params: nothing, result: HermesMemory },
  undo: { name: "_hermes/memory/undo", params: HermesMemoryUndo, result: HermesMemoryUndone },
};
