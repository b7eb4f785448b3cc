/** The text of what the user said. */
import type { Message } from "../messages/message.ts";

/** Null for anything that was not said by the user. Images say nothing. */
export function userText(message: Message | undefined): string | null {
  if (message?.role !== "user" || message.synthetic) return null;
  if (typeof message.content === "string") return message.content;
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}
