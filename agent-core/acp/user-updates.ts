/** What the user said, as updates: in a replay, and when it reached the model in the middle of a turn. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { ContentPart, UserMessage } from "../messages/message.ts";
import type { HermesMessageMeta } from "../protocol/conversation.ts";

type ChunkUpdate = Extract<
  SessionUpdate,
  { sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" }
>;

/** None for what the agent said in the user's place. `position`: undefined where it is told later. */
export function userUpdates({ content, synthetic }: UserMessage, position: number | undefined): readonly ChunkUpdate[] {
  if (synthetic) return [];
  const chunks = typeof content === "string" ? [chunk("user_message_chunk", content)] : content.map(partChunk);
  if (position === undefined) return chunks;
  const hermes: HermesMessageMeta = { position };
  return chunks.map((update) => ({ ...update, _meta: { hermes } }));
}

function partChunk(part: ContentPart): ChunkUpdate {
  if (part.type === "text") return chunk("user_message_chunk", part.text);
  const [head = "", data = ""] = part.image_url.url.split(";base64,");
  const image = { type: "image", mimeType: head.replace(/^data:/, ""), data } as const;
  return { sessionUpdate: "user_message_chunk", content: image };
}

/** A piece of text of somebody's. */
export function chunk(sessionUpdate: ChunkUpdate["sessionUpdate"], text: string): ChunkUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}
