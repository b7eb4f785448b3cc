/** Builds the body of OpenAI's chat completions. Pure: equal requests give equal bytes. */
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions";
import {
  type AssistantMessage,
  type ContentPart,
  contentText,
  type Message,
  type ToolCall,
  type UserMessage,
} from "../../messages/message.ts";
import type { ChatQuirks } from "../deployments.ts";
import { isReasoningDetail, placeReasoning } from "./reasoning-places.ts";
import { type CallIds, chatCallIds, mistralCallIds, sentArguments, sentCallId, sentName } from "./sent-call.ts";
import { followsResult, withImageMessages } from "./sent-images.ts";
import type { ModelRequest, Sampling, ToolSchema } from "./wire.ts";

/** Mistral's models, also behind other servers: the template checks the ids and the order of roles. */
const MISTRAL = /(mi[sx]|minis|magis|devs|codes)tral|pixtral/i;

/** Stands before a user message, where a template allows only an answer after a result or another user message. */
const HEARD: ChatCompletionMessageParam = { role: "assistant", content: "OK." };

type MessageRules = {
  readonly ids: CallIds;
  readonly refusesUnknownFields: boolean;
  /** Reasoning of a message without any, in a turn with tools; undefined: no field. */
  readonly missingReasoning: string | undefined;
  /** Signature of a message's first call without one; undefined: none. */
  readonly missingSignature: string | undefined;
  /** Names the rules, for a message that follows no tool result, and for one that does. */
  readonly key: string;
  readonly keyAfterTool: string;
};

/** `quirks`: the endpoint's peculiarities. */
export function chatCompletionsBody(request: ModelRequest, quirks: ChatQuirks): ChatCompletionCreateParamsStreaming {
  const { model, tools, sampling } = request;
  const messages = withImageMessages(request.messages);
  const rules = rulesOf(request, quirks);
  const sent = messages.map((message, index) => loweredOnce(message, rules, followsResult(messages, index)));
  return {
    ...request.extraBody,
    model,
    messages: shaped(sent, request, quirks),
    stream: true,
    ...(quirks.refusesStreamOptions !== true && { stream_options: { include_usage: true } }),
    ...(tools.length > 0 && {
      tools: tools.map(loweredTool),
    }),
    ...lowerSampling(sampling, quirks),
  };
}

/** The messages as the template of this server or model wants them. */
function shaped(
  messages: ChatCompletionMessageParam[],
  { model, mergesSystem, separatesRoles: isStrict }: ModelRequest,
  { nineCharCallIds }: ChatQuirks,
): ChatCompletionMessageParam[] {
  const [first, ...others] = messages;
  const system = mergesSystem === true && first?.role === "system" ? [{ ...first, role: "user" as const }, HEARD] : [];
  const sent = system.length > 0 ? [...system, ...others] : messages;
  if (!isStrict && !nineCharCallIds && !MISTRAL.test(model)) return sent;
  const calls = isStrict ? sent.flatMap((each) => (each.role === "assistant" ? (each.tool_calls ?? []) : [])) : [];
  return sent.flatMap((each, index) => {
    if (each.role === "user" && sent[index - 1]?.role === "tool") return [HEARD, each];
    // Gemini behind some proxies refuses a result without the name of its tool, which is no field of OpenAI's.
    const call = each.role === "tool" ? calls.find(({ id }) => id === each.tool_call_id) : undefined;
    if (call?.type === "function") return [{ ...each, name: call.function.name }];
    return isStrict && each.role === "assistant" && each.content === null ? [{ ...each, content: "" }] : [each];
  });
}

function rulesOf({ model, requiresReasoning, separatesRoles }: ModelRequest, quirks: ChatQuirks): MessageRules {
  const { refusesUnknownFields = false, missingReasoning, missingSignature, nineCharCallIds = false } = quirks;
  const hasShortIds = nineCharCallIds || separatesRoles === true || MISTRAL.test(model);
  const chosen = {
    refusesUnknownFields,
    // One character, because some services take an empty field for a missing one.
    missingReasoning: missingReasoning ?? (requiresReasoning ? " " : undefined),
    missingSignature: missingSignature?.models.test(model) ? missingSignature.signature : undefined,
  };
  const key = JSON.stringify([hasShortIds, chosen]);
  return { ...chosen, ids: hasShortIds ? mistralCallIds : chatCallIds, key, keyAfterTool: `${key} after a result` };
}

/** Messages as they were sent, and the rules of that request. Equal messages of the next request are the same objects. */
const sentMessages = new WeakMap<Message, { readonly key: string; readonly sent: ChatCompletionMessageParam }>();
const sentTools = new WeakMap<ToolSchema, ChatCompletionTool>();

function loweredOnce(message: Message, rules: MessageRules, followsTool: boolean): ChatCompletionMessageParam {
  const key = followsTool ? rules.keyAfterTool : rules.key;
  const known = sentMessages.get(message);
  if (known?.key === key) return known.sent;
  const sent = lowerMessage(message, rules, followsTool);
  sentMessages.set(message, { key, sent });
  return sent;
}

function loweredTool(tool: ToolSchema): ChatCompletionTool {
  let sent = sentTools.get(tool);
  if (sent === undefined) {
    const { name, description, parameters } = tool;
    sent = { type: "function", function: { name, description, parameters: { ...parameters } } };
    sentTools.set(tool, sent);
  }
  return sent;
}

/** `followsTool`: the message before it is the result of a call. */
function lowerMessage(message: Message, rules: MessageRules, followsTool: boolean): ChatCompletionMessageParam {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content };
    case "user":
      return { role: "user", content: lowerUser(message.content) };
    case "assistant":
      return lowerAssistant(message, rules, followsTool);
    case "tool":
      return { role: "tool", tool_call_id: sentCallId(message.tool_call_id, rules.ids), content: message.content };
  }
}

/** Some servers take a list only for a model with vision: text alone is one string. */
function lowerUser(content: UserMessage["content"]): string | ChatCompletionContentPart[] {
  const hasPictures = typeof content !== "string" && content.some((part) => part.type !== "text");
  return hasPictures ? content.map(lowerPart) : contentText(content, "\n\n");
}

function lowerPart(part: ContentPart): ChatCompletionContentPart {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "image_url", image_url: { url: part.image_url.url } };
}

/**
 * Sends only the opaque parts that this API gave. Readable reasoning returns within a turn that called tools: there
 * DeepSeek and Kimi require it. In other turns they ignore it, and DeepSeek's R1 refuses it.
 */
function lowerAssistant(
  message: AssistantMessage,
  rules: MessageRules,
  followsTool: boolean,
): ChatCompletionMessageParam {
  const { content, tool_calls: calls = [], reasoning_details: details = [] } = message;
  const opaque = rules.refusesUnknownFields ? [] : details.filter(isReasoningDetail);
  const isInToolTurn = calls.length > 0 || followsTool;
  // The API allows null only beside calls.
  const text = calls.length > 0 ? content : (content ?? "");
  const placed =
    isInToolTurn && !rules.refusesUnknownFields ? placeReasoning(message, text) : { content: text, fields: {} };
  const missing = isInToolTurn && !placed.fields["reasoning_content"] ? rules.missingReasoning : undefined;
  return {
    role: "assistant",
    ...placed.fields,
    ...(missing !== undefined && { reasoning_content: missing }),
    content: placed.content,
    ...(calls.length > 0 && { tool_calls: calls.map((call, index) => lowerCall(call, rules, index === 0)) }),
    ...(opaque.length > 0 && { reasoning_details: opaque }),
  } as ChatCompletionMessageParam; // the library's type knows neither other fields nor `thinking` parts
}

function lowerCall(
  { id, function: { name, arguments: json }, extra }: ToolCall,
  { ids, refusesUnknownFields, missingSignature }: MessageRules,
  isFirst: boolean,
): ChatCompletionMessageFunctionToolCall {
  const sent = { name: sentName(name), arguments: sentArguments(json) };
  const made = isFirst &&
    missingSignature !== undefined && { extra_content: { google: { thought_signature: missingSignature } } };
  return {
    ...(extra === undefined || refusesUnknownFields ? made : extra),
    id: sentCallId(id, ids),
    type: "function",
    function: sent,
  };
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
