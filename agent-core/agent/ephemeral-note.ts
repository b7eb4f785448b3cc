/** What the model is told once: said with the next request, never stored. */
import type { Message } from "../messages/message.ts";

/** The messages with the note at the end of the last one, when that is a tool's result or the user's. */
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
