/** Which of our own extensions of ACP a client declares. */
import type { ClientCapabilities } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import type { HermesClientCapabilities } from "../protocol/capabilities.ts";

const flag = z.boolean().exactOptional();

const metaSchema = z.object({
  hermes: z.object({
    expectedText: flag,
    fileMoves: flag,
    terminals: flag,
    languageModels: flag,
    putBack: flag,
    problems: flag,
    processes: flag,
    compressions: flag,
    sessionIndex: flag,
  }),
});

/** None for a client that is not ours. */
export function hermesCapabilities({ _meta: meta }: ClientCapabilities): HermesClientCapabilities {
  return metaSchema.safeParse(meta).data?.hermes ?? {};
}
