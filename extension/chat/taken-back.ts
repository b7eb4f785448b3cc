/** Text of the first message that an update removes: it goes back into the composer. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { HermesRewoundMeta } from "../../agent-core/protocol/conversation.ts";
import { readMeta } from "../../agent-core/protocol/meta.ts";

/** Undefined when the update removes no message, or one that the user did not write. */
export function takenBackPrompt(update: SessionUpdate): string | undefined {
  if (update.sessionUpdate !== "session_info_update") return undefined;
  return readMeta(HermesRewoundMeta, update._meta)?.rewound.prompt ?? undefined;
}
