/** What the first of the messages said that an update takes back: it waits in the composer then. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import type { HermesRewoundMeta } from "../../agent-core/protocol/conversation.ts";

const rewoundMeta = z.object({
  hermes: z.object({ rewound: z.object({ position: z.number(), prompt: z.string().nullable() }) }),
}) satisfies z.ZodType<{ readonly hermes: HermesRewoundMeta }>;

/** Undefined when the update takes nothing back, or nothing that the user said. */
export function takenBackPrompt(update: SessionUpdate): string | undefined {
  if (update.sessionUpdate !== "session_info_update") return undefined;
  return rewoundMeta.safeParse(update._meta).data?.hermes.rewound.prompt ?? undefined;
}
