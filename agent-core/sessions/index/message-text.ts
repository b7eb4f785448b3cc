/** The words of a message that a search finds it by. */
import type { Message } from "../../messages/message.ts";

/** Of a longer message only the beginning is indexed: the rest of a long tool result is in the journal. Characters. */
const MAX_TEXT_CHARS = 8_000;

export function messageText(message: Message): string {
  return fullText(message).slice(0, MAX_TEXT_CHARS).toWellFormed();
}

function fullText(message: Message): string {
  switch (message.role) {
    case "system":
    case "tool":
      return message.content;
    case "user":
      if (typeof message.content === "string") return message.content;
      return message.content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
    case "assistant": {
      const calls = (message.tool_calls ?? []).map(({ function: call }) => `[${call.name} ${call.arguments}]`);
      return [message.content ?? "", ...calls].filter((text) => text !== "").join("\n");
    }
  }
}
