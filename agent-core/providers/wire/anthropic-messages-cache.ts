/** Marks for Anthropic's prompt cache. Only marks: whatever else is sent stays byte for byte the same. */
import type { CacheControlEphemeral, ContentBlockParam, TextBlockParam } from "@anthropic-ai/sdk/resources/messages";
import { type BlockMessage, isThinking } from "./anthropic-messages-history.ts";

/** The API takes four: one is for the system prompt, which closes the tools in as well. */
const MARKED_MESSAGES = 3;

/** Marks the end of the system prompt. */
export function markSystem(system: readonly TextBlockParam[], mark: CacheControlEphemeral): TextBlockParam[] {
  return system.map((block, index) => (index === system.length - 1 ? { ...block, cache_control: mark } : block));
}

/** Marks the ends of the last messages. */
export function markMessages(messages: readonly BlockMessage[], mark: CacheControlEphemeral): BlockMessage[] {
  const first = messages.length - MARKED_MESSAGES;
  return messages.map((message, index) => (index < first ? message : markEnd(message, mark)));
}

function markEnd(message: BlockMessage, mark: CacheControlEphemeral): BlockMessage {
  const last = message.content.findLastIndex(({ type }) => !isThinking(type));
  const content = message.content.map((block, index): ContentBlockParam => {
    if (index !== last || block.type === "thinking" || block.type === "redacted_thinking") return block;
    return { ...block, cache_control: mark };
  });
  return { ...message, content };
}
