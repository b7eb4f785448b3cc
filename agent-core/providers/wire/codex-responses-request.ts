/** Builds the body of OpenAI's Responses. Pure: equal requests give equal bytes. */
import type {
  ResponseCreateParamsStreaming,
  ResponseFunctionToolCall,
  ResponseInputContent,
  ResponseInputItem,
  ResponseOutputMessage,
} from "openai/resources/responses/responses";
import * as z from "zod";
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolMessage } from "../../messages/message.ts";
import { isOpenAiReasoningModel, knowsMinimalEffort } from "../model-info.ts";
import { hashOf, responsesCallIds, sentArguments, sentCallId, sentName } from "./sent-call.ts";
import { imageUrl } from "./sent-images.ts";
import { SECTION_BREAK } from "./text-sections.ts";
import type { ModelRequest, Sampling } from "./wire.ts";

/** The API refuses a lower limit. Tokens. */
const LOWEST_CEILING = 16;
/** The API refuses other ids of items. */
const ITEM_ID = /^[\w-]{1,64}$/;

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
        // The default is true, which changes the schema.
        strict: false,
      })),
    }),
    ...(sampling.maxTokens !== undefined && { max_output_tokens: Math.max(LOWEST_CEILING, sampling.maxTokens) }),
    ...(isReasoning ? reasoningOptions(model, sampling) : plainOptions(sampling)),
  };
}

/** One key per session, from its first messages, so that its requests share a cache. */
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
        {
          type: "function_call_output",
          call_id: sentCallId(message.tool_call_id, responsesCallIds),
          output: lowerOutput(message),
        },
      ];
  }
}

function lowerOutput({ content, images = [] }: ToolMessage): ResponseInputItem.FunctionCallOutput["output"] {
  if (images.length === 0) return content;
  return [
    { type: "input_text", text: content },
    ...images.map((image) => ({ type: "input_image" as const, image_url: imageUrl(image), detail: "auto" as const })),
  ];
}

function lowerContent(content: string | readonly ContentPart[]): ResponseInputContent[] {
  const parts: readonly ContentPart[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.map((part) =>
    part.type === "text"
      ? { type: "input_text", text: part.text }
      : { type: "input_image", image_url: part.image_url.url, detail: "auto" },
  );
}

/** Keeps the order of the response if known. Models without reasoning refuse reasoning items. */
function lowerAssistant(message: AssistantMessage, index: number, isReasoning: boolean): readonly ResponseInputItem[] {
  const items = (isReasoning ? layOut(message) : undefined) ?? withoutLayout(message);
  return items.map((item, place) => lowerItem(item, `msg_${index}_${place}`));
}

/** `madeUpId`: for a message without an id, where the API requires one. */
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

/** Omits item ids, because with them the API expects their reasoning. */
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
    call_id: sentCallId(callId, responsesCallIds),
    name: sentName(name),
    arguments: sentArguments(json),
  };
}

function validId(id: string | undefined, prefix: string): string | undefined {
  return id?.startsWith(prefix) && ITEM_ID.test(id) ? id : undefined;
}

/**
 * A response's layout, kept in `reasoning_details`: its reasoning items and their places between texts and calls. The
 * API accepts reasoning only before the item it led to, and only encrypted, because nothing is stored.
 */
const reasoningSchema = z.looseObject({
  type: z.literal("reasoning"),
  id: z.string(),
  summary: z.array(z.looseObject({ type: z.literal("summary_text"), text: z.string() })),
  encrypted_content: z.string().min(1),
});

const placeSchema = z.discriminatedUnion("type", [
  reasoningSchema,
  z.object({
    type: z.literal("message"),
    id: z.string().exactOptional(),
    phase: z.enum(["commentary", "final_answer"]).exactOptional(),
    /** Length of its part of the content, in UTF-16 units. */
    chars: z.number().int().nonnegative(),
  }),
  z.object({
    type: z.literal("function_call"),
    id: z.string().exactOptional(),
    call_id: z.string(),
  }),
]);

/** One item of the response. */
export type Place = z.infer<typeof placeSchema>;
export type SealedReasoning = z.infer<typeof reasoningSchema>;
export type Phase = Extract<Place, { type: "message" }>["phase"];

/** One item to send. */
export type LaidOut =
  | { readonly type: "reasoning"; readonly item: SealedReasoning }
  | { readonly type: "text"; readonly text: string; readonly id: string | undefined; readonly phase: Phase }
  | { readonly type: "call"; readonly call: ToolCall; readonly id: string | undefined };

const ownTypes: ReadonlySet<unknown> = new Set(placeSchema.options.map(({ shape }) => shape.type.value));
const typedSchema = z.object({ type: z.string() });

/** Undefined without reasoning, or when a reasoning item cannot return. */
export function layoutOf(items: readonly unknown[]): readonly Place[] | undefined {
  const places = z.array(placeSchema).safeParse(items).data;
  const matters = places?.some((place) => place.type === "reasoning" || (place.type === "message" && place.phase));
  return matters ? places : undefined;
}

/**
 * The message's items in the response's order. Undefined without a layout that fits the message: the API refuses
 * misplaced reasoning.
 */
export function layOut(message: AssistantMessage): readonly LaidOut[] | undefined {
  const details = message.reasoning_details?.filter((part) => ownTypes.has(typedSchema.safeParse(part).data?.type));
  const places = layoutOf(details ?? []);
  if (places === undefined) return undefined;
  const rest: Rest = { content: message.content ?? "", at: 0, calls: [...(message.tool_calls ?? [])] };
  const laidOut: LaidOut[] = [];
  let led: LaidOut[] = [];
  for (const place of places) {
    if (place.type === "reasoning") {
      led.push({ type: "reasoning", item: place });
      continue;
    }
    const item = place.type === "message" ? takeText(rest, place) : takeCall(rest, place);
    if (item === "other") return undefined;
    if (item !== "empty") laidOut.push(...led, item);
    led = [];
  }
  return rest.at === rest.content.length && rest.calls.length === 0 ? laidOut : undefined;
}

/** Local to one function call. */
type Rest = { readonly content: string; at: number; readonly calls: ToolCall[] };

function takeText(rest: Rest, { id, phase, chars }: Extract<Place, { type: "message" }>): LaidOut | "empty" | "other" {
  if (chars === 0) return "empty";
  if (rest.at > 0) {
    if (!rest.content.startsWith(SECTION_BREAK, rest.at)) return "other";
    rest.at += SECTION_BREAK.length;
  }
  const text = rest.content.slice(rest.at, rest.at + chars);
  if (text.length < chars) return "other";
  rest.at += chars;
  return { type: "text", text, id, phase };
}

function takeCall(rest: Rest, place: Extract<Place, { type: "function_call" }>): LaidOut | "other" {
  const call = rest.calls.shift();
  return call?.id === place.call_id ? { type: "call", call, id: place.id } : "other";
}
