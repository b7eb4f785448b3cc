/** Result of `runConversation`: the end of a turn, its usage and its conversation. */
import type { Message } from "../messages/message.ts";
import type { Fault } from "../providers/fault.ts";
import { withKeyAdvice } from "../providers/fault-message.ts";
import type { Usage } from "../providers/wire/wire.ts";
import type { TurnEnd, TurnOutcome } from "./turn.ts";

export type ConversationResult = {
  /** The answer in words; empty when the turn was cancelled or failed. */
  readonly finalResponse: string;
  /** The whole conversation, without the system prompt. */
  readonly messages: readonly Message[];
  /** Sum over the turn's model calls. */
  readonly usage: Usage;
  /** Usage of the turn's last model call. Its input tokens are the size of the context. */
  readonly lastUsage: Usage | undefined;
  readonly iterations: number;
  readonly stopReason: TurnEnd["stopReason"];
  /** Reason why the model could not be used; undefined unless `stopReason` is `error`. */
  readonly fault: Fault | undefined;
  readonly sessionId: string;
  readonly taskId: string;
};

export function resultOf(
  { end, iterations, usages }: TurnOutcome,
  conversation: Pick<ConversationResult, "messages" | "sessionId" | "taskId">,
): ConversationResult {
  return {
    finalResponse: end.text,
    messages: [...conversation.messages],
    usage: usages.reduce(addUsage, { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }),
    lastUsage: usages.at(-1),
    iterations,
    stopReason: end.stopReason,
    fault: end.stopReason === "error" ? { ...end.fault, message: withKeyAdvice(end.fault) } : undefined,
    sessionId: conversation.sessionId,
    taskId: conversation.taskId,
  };
}

function addUsage(first: Usage, second: Usage): Usage {
  return {
    inputTokens: first.inputTokens + second.inputTokens,
    outputTokens: first.outputTokens + second.outputTokens,
    cachedInputTokens: first.cachedInputTokens + second.cachedInputTokens,
    reasoningTokens: first.reasoningTokens + second.reasoningTokens,
  };
}

/** Rejection of `chat` when the model could not be used. */
export class AgentError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.name = "AgentError";
    this.fault = fault;
  }
}
