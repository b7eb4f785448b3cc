/** How many tokens a message takes, as far as that can be told without the model's tokenizer. */
import type { Message } from "../messages/message.ts";

/** English text and code; other languages are corrected by what the provider reports (token-meter.ts). */
export const CHARS_A_TOKEN = 4;
/** Role and separators around each message. */
const MESSAGE_TOKENS = 4;
/** A picture at the providers' usual detail. */
const IMAGE_TOKENS = 1_000;

const known = new WeakMap<Message, number>();

export function estimateTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** Worked out once for each message. */
export function messageTokens(message: Message): number {
  let tokens = known.get(message);
  if (tokens === undefined) {
    tokens = MESSAGE_TOKENS + images(message) * IMAGE_TOKENS + textTokens(chars(message));
    known.set(message, tokens);
  }
  return tokens;
}

/** Of so many characters. */
export function textTokens(characters: number): number {
  return Math.ceil(characters / CHARS_A_TOKEN);
}

function chars(message: Message): number {
  switch (message.role) {
    case "system":
    case "tool":
      return message.content.length;
    case "user":
      if (typeof message.content === "string") return message.content.length;
      return message.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
    case "assistant": {
      const calls = message.tool_calls ?? [];
      const called = calls.reduce((sum, { function: call }) => sum + call.name.length + call.arguments.length, 0);
      return (message.content ?? "").length + (message.reasoning ?? "").length + called;
    }
  }
}

function images(message: Message): number {
  if (message.role !== "user" || typeof message.content === "string") return 0;
  return message.content.filter((part) => part.type === "image_url").length;
}
