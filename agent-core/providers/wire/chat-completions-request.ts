/** Builds the body of OpenAI's chat completions. Pure: equal requests give equal bytes. */
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { AssistantMessage, ContentPart, Message, ToolCall } from "../../messages/message.ts";
import type { ChatQuirks } from "../deployments.ts";
import { isReasoningDetail } from "./reasoning-details.ts";
import { sentArguments, sentCallId, sentName } from "./sent-call.ts";
import type { ModelRequest, Sampling } from "./wire.ts";

/** OpenAI refuses longer ids. */
const VALID_ID = /^[\s\S]{1,40}$/;

/** `quirks`: the endpoint's peculiarities. */
export function chatCompletionsBody(request: ModelRequest, quirks: ChatQuirks): ChatCompletionCreateParamsStreaming {
  const { model, messages, tools, sampling } = request;
  return {
    model,
    messages: messages.map((message) => lowerMessage(message, quirks)),
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function" as const,
        function: { name, description, parameters: { ...parameters } },
      })),
    }),
    ...lowerSampling(sampling, quirks),
  };
}

function lowerMessage(message: Message, quirks: ChatQuirks): ChatCompletionMessageParam {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user":
      if (typeof message.content === "string") return { role: "user", content: message.content };
      return { role: "user", content: message.content.map(lowerPart) };
    case "assistant":
      return lowerAssistant(message, quirks);
    case "tool":
      return { role: "tool", tool_call_id: sentCallId(message.tool_call_id, VALID_ID), content: message.content };
  }
}

function lowerPart(part: ContentPart): ChatCompletionContentPart {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "image_url", image_url: { url: part.image_url.url } };
}

/** Sends only the opaque parts that this API gave; plain reasoning is not sent. */
function lowerAssistant(message: AssistantMessage, quirks: ChatQuirks): ChatCompletionMessageParam {
  const { content, tool_calls: calls = [], reasoning_details: details = [] } = message;
  const ownDetails = quirks.refusesUnknownFields ? [] : details.filter(isReasoningDetail);
  return {
    role: "assistant",
    // The API allows null only beside calls.
    content: calls.length > 0 ? content : (content ?? ""),
    ...(calls.length > 0 && { tool_calls: calls.map(lowerCall) }),
    ...(ownDetails.length > 0 && { reasoning_details: ownDetails }),
  };
}

function lowerCall({ id, function: { name, arguments: json } }: ToolCall): ChatCompletionMessageFunctionToolCall {
  const sent = { name: sentName(name), arguments: sentArguments(json) };
  return { id: sentCallId(id, VALID_ID), type: "function", function: sent };
}

function lowerSampling(
  { temperature, topP, frequencyPenalty, presencePenalty, stop, maxTokens, reasoningEffort }: Sampling,
  { maxTokensField }: ChatQuirks,
): Partial<ChatCompletionCreateParamsStreaming> {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty !== undefined && { presence_penalty: presencePenalty }),
    ...(stop !== undefined && { stop: [...stop] }),
    ...(maxTokens !== undefined && maxTokensField === undefined && { max_tokens: maxTokens }),
    ...(maxTokens !== undefined && maxTokensField !== undefined && { [maxTokensField]: maxTokens }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
  };
}
