/** The messages that people count: prompts and answers. */
import type { AssistantMessage, Message } from "../messages/message.ts";

/** Null for tool calls, tool results, and messages that the agent wrote in the user's role. */
export type ShownAs = "prompt" | "answer" | null;

export function shownAs(message: Message): ShownAs {
  if (message.role === "user") return message.synthetic ? null : "prompt";
  return message.role === "assistant" && message.content ? "answer" : null;
}

/** Text of an answer and the reason of its cut-off; empty when it has no text. */
export function answerText({ content, unfinished }: AssistantMessage): string {
  const why = unfinished === undefined ? [] : [`[${unfinished}]`];
  return [...(content ? [content] : []), ...why].join("\n\n");
}

/** Count of messages. Parts of one answer, around its tool calls, count once. */
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
