/** From a request in the internal format to the body of OpenAI's chat completions. Pure. */
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { AssistantMessage, Message } from "../../messages/message.ts";
import type { ModelRequest, Sampling } from "./wire.ts";

export function chatCompletionsBody({
  model,
  messages,
  tools,
  sampling,
}: ModelRequest): ChatCompletionCreateParamsStreaming {
  return {
    model,
    messages: messages.map(lowerMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function" as const,
        function: { name, description, parameters: { ...parameters } },
      })),
    }),
    ...lowerSampling(sampling),
  };
}

function lowerMessage(message: Message): ChatCompletionMessageParam {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user":
      if (typeof message.content === "string") return { role: "user", content: message.content };
      return { role: "user", content: message.content.map((part) => structuredClone(part)) };
    case "assistant":
      return lowerAssistant(message);
    case "tool":
      return { role: "tool", tool_call_id: message.tool_call_id, content: message.content };
  }
}

/** Plain reasoning stays here: only the opaque parts that a provider itself gave may be sent back to it. */
function lowerAssistant({
  content,
  tool_calls: calls,
  reasoning_details: details,
}: AssistantMessage): ChatCompletionMessageParam {
  return {
    role: "assistant",
    content,
    ...(calls !== undefined && { tool_calls: calls.map((call) => structuredClone(call)) }),
    ...(details !== undefined && { reasoning_details: details }),
  };
}

function lowerSampling(sampling: Sampling): Partial<ChatCompletionCreateParamsStreaming> {
  const { temperature, topP, frequencyPenalty, presencePenalty, stop, maxTokens, reasoningEffort } = sampling;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty !== undefined && { presence_penalty: presencePenalty }),
    ...(stop !== undefined && { stop: [...stop] }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
  };
}
