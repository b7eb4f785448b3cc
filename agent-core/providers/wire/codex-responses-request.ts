/** From a request in the internal format to the body of OpenAI's Responses. Pure: same request, same bytes. */
import type {
  ResponseCreateParamsStreaming,
  ResponseFunctionToolCall,
  ResponseInputContent,
  ResponseInputItem,
  ResponseOutputMessage,
} from "openai/resources/responses/responses";
import type { AssistantMessage, ContentPart, Message, ToolCall } from "../../messages/message.ts";
import { isOpenAiReasoningModel, knowsMinimalEffort } from "../model-info.ts";
import { type LaidOut, layOut, type Phase } from "./codex-responses-layout.ts";
import { hashOf, sentArguments, sentCallId, sentName } from "./sent-call.ts";
import type { ModelRequest, Sampling } from "./wire.ts";

/** The API refuses a lower ceiling. Tokens. */
const LOWEST_CEILING = 16;
/** Other ids are refused; those of other providers may be anything. */
const VALID_ID = /^[\w-]{1,64}$/;

export function codexResponsesBody({ model, messages, tools, sampling }: ModelRequest): ResponseCreateParamsStreaming {
  const [first] = messages;
  const instructions = first?.role === "system" ? first.content : "";
  const isReasoning = isOpenAiReasoningModel(model);
  return {
    model,
    ...(instructions !== "" && { instructions }),
    input: messages.flatMap((message, index) =>
      index === 0 && message.role === "system" ? [] : lower(message, index, isReasoning),
    ),
    stream: true,
    store: false,
    prompt_cache_key: cacheKey(messages),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: "function" as const,
        name,
        description,
        parameters: { ...parameters },
        // Left out it is true here, and the schema is bent until it fits.
        strict: false,
      })),
    }),
    ...(sampling.maxTokens !== undefined && { max_output_tokens: Math.max(LOWEST_CEILING, sampling.maxTokens) }),
    ...(isReasoning ? reasoningOptions(model, sampling) : plainOptions(sampling)),
  };
}

/** One session has one key, which leads its requests to the same cache: its first messages do not change. */
function cacheKey(messages: readonly Message[]): string {
  const start = [messages.find(({ role }) => role === "system"), messages.find(({ role }) => role === "user")];
  return `hermes-${hashOf(JSON.stringify(start))}`;
}

/** Reasoning models refuse temperature and top_p. */
function reasoningOptions(
  model: string,
  { reasoningEffort: wanted }: Sampling,
): Partial<ResponseCreateParamsStreaming> {
  const effort = wanted === "minimal" && !knowsMinimalEffort(model) ? "low" : wanted;
  return {
    include: ["reasoning.encrypted_content"],
    reasoning: { ...(effort !== undefined && { effort }), summary: "auto" },
  };
}

function plainOptions({ temperature, topP }: Sampling): Partial<ResponseCreateParamsStreaming> {
  return { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { top_p: topP }) };
}

function lower(message: Message, index: number, isReasoning: boolean): readonly ResponseInputItem[] {
  switch (message.role) {
    case "system":
      return [{ type: "message", role: "developer", content: [{ type: "input_text", text: message.content }] }];
    case "user":
      return [{ type: "message", role: "user", content: lowerContent(message.content) }];
    case "assistant":
      return lowerAssistant(message, index, isReasoning);
    case "tool":
      return [
        { type: "function_call_output", call_id: sentCallId(message.tool_call_id, VALID_ID), output: message.content },
      ];
  }
}

function lowerContent(content: string | readonly ContentPart[]): ResponseInputContent[] {
  const parts: readonly ContentPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.map((part) =>
    part.type === "text"
      ? { type: "input_text", text: part.text }
      : { type: "input_image", image_url: part.image_url.url, detail: "auto" },
  );
}

/** As its response was, where that is known; models that do not reason refuse reasoning. */
function lowerAssistant(message: AssistantMessage, index: number, isReasoning: boolean): readonly ResponseInputItem[] {
  const items = (isReasoning ? layOut(message) : undefined) ?? withoutLayout(message);
  return items.map((item, place) => lowerItem(item, `msg_${index}_${place}`));
}

/** `madeUpId` is for a message without one: the API demands it there, and only there. */
function lowerItem(item: LaidOut, madeUpId: string): ResponseInputItem {
  switch (item.type) {
    case "reasoning":
      return item.item;
    case "text":
      return outputMessage(item.text, validId(item.id, "msg_") ?? madeUpId, item.phase);
    case "call":
      return functionCall(item.call, validId(item.id, "fc_"));
  }
}

/** Without the items' ids: with them the API asks for the reasoning that led to them. */
function withoutLayout({ content, tool_calls: calls = [] }: AssistantMessage): readonly LaidOut[] {
  return [
    ...(content ? [{ type: "text" as const, text: content, id: undefined, phase: undefined }] : []),
    ...calls.map((call) => ({ type: "call" as const, call, id: undefined })),
  ];
}

function outputMessage(text: string, id: string, phase: Phase): ResponseOutputMessage {
  return {
    type: "message",
    role: "assistant",
    id,
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
    ...(phase !== undefined && { phase }),
  };
}

function functionCall(
  { id: callId, function: { name, arguments: json } }: ToolCall,
  id: string | undefined,
): ResponseFunctionToolCall {
  return {
    type: "function_call",
    ...(id !== undefined && { id }),
    call_id: sentCallId(callId, VALID_ID),
    name: sentName(name),
    arguments: sentArguments(json),
  };
}

function validId(id: string | undefined, prefix: string): string | undefined {
  return id?.startsWith(prefix) && VALID_ID.test(id) ? id : undefined;
}
