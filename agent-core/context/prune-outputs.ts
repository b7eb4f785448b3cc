/** Makes room without asking a model: old, long tool outputs give way to their beginning. Calls keep their results. */
import type { Message, ToolMessage } from "../messages/message.ts";

/** The newest messages are what the model is working on: they stay as they are. */
const KEPT_MESSAGES = 6;
/** Shorter outputs are not worth the loss. Characters. */
const LONG_OUTPUT_CHARS = 1_000;
const KEPT_CHARS = 400;

/** Undefined when there is nothing to prune. */
export function pruneOutputs(messages: readonly Message[]): readonly Message[] | undefined {
  const firstKept = messages.length - KEPT_MESSAGES;
  let hasPruned = false as boolean;
  const pruned = messages.map((message, index) => {
    if (index >= firstKept || message.role !== "tool" || message.content.length <= LONG_OUTPUT_CHARS) return message;
    hasPruned = true;
    return prune(message);
  });
  return hasPruned ? pruned : undefined;
}

function prune(message: ToolMessage): ToolMessage {
  const kept = message.content.slice(0, KEPT_CHARS).toWellFormed();
  const left = message.content.length - kept.length;
  return {
    ...message,
    content: `${kept}\n[… ${left} characters of old output left out to make room; run it again if needed]`,
  };
}
