/** What the user said, as updates: in a replay, and when it reached the model in the middle of a turn. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { UserMessage } from "../messages/message.ts";

/** None for what the agent said in the user's place. */
export function userUpdates({ content, synthetic }: UserMessage): readonly SessionUpdate[] {
  if (synthetic) return [];
  if (typeof content === "string") return [chunk("user_message_chunk", content)];
  return content.map((part) => {
    if (part.type === "text") return chunk("user_message_chunk", part.text);
    const [head = "", data = ""] = part.image_url.url.split(";base64,");
    const image = { type: "image", mimeType: head.replace(/^data:/, ""), data } as const;
    return { sessionUpdate: "user_message_chunk", content: image };
  });
}

/** A piece of text of somebody's. */
export function chunk(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate, content: { type: "text", text } };
}
