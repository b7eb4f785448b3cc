/** What people count as messages: what they asked, and what they were answered. */
import type { AssistantMessage, Message } from "../messages/message.ts";

/** Null for what is no message to people: tool calls, results, what the agent said in the user's place. */
export type ShownAs = "prompt" | "answer" | null;

export function shownAs(message: Message): ShownAs {
  if (message.role === "user") return message.synthetic ? null : "prompt";
  return message.role === "assistant" && message.content ? "answer" : null;
}

/** An answer's words, and why it was broken off; empty when it said nothing. */
export function answerText({ content, unfinished }: AssistantMessage): string {
  const why = unfinished === undefined ? [] : [`[${unfinished}]`];
  return [...(content ? [content] : []), ...why].join("\n\n");
}

/** How many messages these are; pieces of one answer, around its tool calls, are one. */
export function shownCount(kinds: Iterable<ShownAs>): number {
  let count = 0;
  let last: ShownAs = null;
  for (const kind of kinds) {
    if (kind === null || (kind === "answer" && last === "answer")) continue;
    count += 1;
    last = kind;
  }
  return count;
}
