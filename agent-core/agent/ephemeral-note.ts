/** Notes that go into one request and are never stored. */
import type { Message } from "../messages/message.ts";

/** Appends a note to the last message if it is a tool result or the user's. The note is never stored. */
export function withNote(messages: readonly Message[], lines: readonly string[]): readonly Message[] {
  const last = messages.at(-1);
  if (lines.length === 0 || last === undefined) return messages;
  const earlier = messages.slice(0, -1);
  const note = lines.join("\n");
  if (last.role === "tool") return [...earlier, { ...last, content: `${last.content}\n\n${note}` }];
  if (last.role !== "user") return messages;
  const content =
    typeof last.content === "string"
      ? `${last.content}\n\n${note}`
      : [...last.content, { type: "text" as const, text: note }];
  return [...earlier, { ...last, content }];
}
