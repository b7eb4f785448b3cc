/** A compression as a client can show it: which of the messages it has gave way to a summary. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { CompressedEvent } from "../agent/callbacks.ts";
import type { HermesAnchor, HermesCompressionMeta } from "../protocol/conversation.ts";
import type { Compression, TranscriptEntry } from "../sessions/conversation.ts";

export function compressionUpdate(
  said: readonly TranscriptEntry[],
  { dropped, summary }: Compression,
  { messages, tokensBefore, tokensAfter }: CompressedEvent,
): SessionUpdate {
  const first = dropped[0]?.[0];
  const last = dropped.at(-1)?.[1];
  const hermes: HermesCompressionMeta = {
    compression: {
      ...{ messages, tokensBefore, tokensAfter, summary },
      first: first === undefined ? null : anchorFrom(said, first),
      firstKept: last === undefined ? null : anchorFrom(said, last + 1),
    },
  };
  return { sessionUpdate: "session_info_update", _meta: { hermes } };
}

/** The first message at or after this position that a client knows by a name. */
function anchorFrom(said: readonly TranscriptEntry[], from: number): HermesAnchor | null {
  for (const one of said) {
    const { position } = one;
    if (position < from) continue;
    const { message } = one;
    if (message.role === "user" && !message.synthetic) return { position };
    const call = message.role === "assistant" ? message.tool_calls?.[0] : undefined;
    if (call !== undefined) return { toolCallId: call.id };
  }
  return null;
}
