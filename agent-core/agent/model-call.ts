/** One call of the model: its stream goes straight out as deltas; what remains is the message for the history. */
import { randomUUID } from "node:crypto";
import type { AssistantMessage, ToolCall } from "../messages/message.ts";
import type { Fault } from "../providers/fault.ts";
import type { FinishReason, ModelEvent, Usage } from "../providers/wire/wire.ts";
import type { Notifier } from "./notifier.ts";

export type ModelAnswer =
  | {
      readonly ok: true;
      readonly message: AssistantMessage;
      readonly reason: FinishReason;
      readonly usage: Usage | undefined;
    }
  | { readonly ok: false; readonly fault: Fault };

type Collected = { text: string; reasoning: string; readonly calls: Map<number, ToolCall> };

/**
 * Reads the stream to its end. `onCall` is told of each tool call as soon as it is complete, in the stream's order.
 * Throws the signal's reason when the turn was cancelled; nothing of the answer is kept then.
 */
export async function readAnswer(
  events: AsyncIterable<ModelEvent>,
  notify: Notifier,
  onCall: (call: ToolCall) => void,
): Promise<ModelAnswer> {
  const messageId = randomUUID();
  const collected: Collected = { text: "", reasoning: "", calls: new Map() };
  for await (const event of events) {
    switch (event.type) {
      case "text-delta":
        collected.text += event.text;
        notify.streamDelta({ text: event.text, messageId });
        break;
      case "reasoning-delta":
        collected.reasoning += event.text;
        notify.reasoning({ text: event.text, messageId });
        break;
      case "tool-call-start":
        notify.toolGen({ callId: event.id, name: event.name });
        break;
      case "tool-call-delta":
        break;
      case "tool-call-end":
        collected.calls.set(event.index, event.call);
        onCall(event.call);
        break;
      case "finish":
        return {
          ok: true,
          message: assistantMessage(collected, event.reasoningDetails),
          reason: event.reason,
          usage: event.usage,
        };
      case "fault":
        return { ok: false, fault: event.fault };
    }
  }
  throw new Error("The model's stream ended without its last event."); // streamModel promises one
}

function assistantMessage(collected: Collected, details: readonly unknown[] | undefined): AssistantMessage {
  // Map keeps the order of completion; the history keeps the order in which the calls were written.
  const calls = [...collected.calls].sort(([first], [second]) => first - second).map(([, call]) => call);
  return {
    role: "assistant",
    content: collected.text === "" ? null : collected.text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(collected.reasoning !== "" && { reasoning: collected.reasoning }),
    ...(details !== undefined && details.length > 0 && { reasoning_details: details }),
  };
}
