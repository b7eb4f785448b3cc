/** Converts the history to Anthropic's messages. Pure and append-only: a longer history only adds blocks. */
import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageParam,
  RedactedThinkingBlockParam,
  TextBlockParam,
  ThinkingBlockParam,
  ToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import * as z from "zod";
import type { AssistantMessage, ContentPart, Message, ToolCall } from "../../messages/message.ts";
import { isRecord, parseJson } from "../../platform/json.ts";
import { anthropicCallIds, sentCallId, sentName } from "./sent-call.ts";
import { imageUrl } from "./sent-images.ts";

/** Content is always a list of blocks: a cache mark on a string would change its bytes. */
export type BlockMessage = Omit<MessageParam, "role" | "content"> & {
  readonly role: "user" | "assistant";
  readonly content: readonly ContentBlockParam[];
};

/** The API refuses an empty user message. */
const NO_TEXT = "(empty message)";

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

export function lowerSystem(messages: readonly Message[]): readonly TextBlockParam[] {
  return messages.flatMap((message) => (message.role === "system" ? textBlocks(message.content) : []));
}

/** All messages but the system prompt. A user message after tool results joins their message. */
export function lowerMessages(messages: readonly Message[]): readonly BlockMessage[] {
  const lowered: BlockMessage[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const content = lowerContent(message);
    // The API refuses an answer that is empty or only thinking.
    if (content.length === 0) continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const previous = lowered.at(-1);
    if (previous?.role === role) lowered[lowered.length - 1] = { role, content: [...previous.content, ...content] };
    else lowered.push({ role, content });
  }
  return lowered;
}

function lowerContent(message: Exclude<Message, { role: "system" }>): readonly ContentBlockParam[] {
  switch (message.role) {
    case "user":
      return lowerUser(message.content);
    case "assistant":
      return lowerAssistant(message);
    case "tool": {
      const { images = [] } = message;
      const content =
        images.length === 0
          ? message.content
          : [...textBlocks(message.content), ...images.map((image) => imageBlock(imageUrl(image)))];
      const isEmpty = typeof content === "string" && content.trim() === "";
      return [
        {
          type: "tool_result",
          tool_use_id: sentCallId(message.tool_call_id, anthropicCallIds),
          ...(!isEmpty && { content }),
        },
      ];
    }
  }
}

function lowerUser(content: string | readonly ContentPart[]): readonly ContentBlockParam[] {
  const blocks = typeof content === "string" ? textBlocks(content) : content.flatMap(lowerPart);
  return blocks.length > 0 ? blocks : textBlocks(NO_TEXT);
}

function lowerPart(part: ContentPart): readonly ContentBlockParam[] {
  return part.type === "text" ? textBlocks(part.text) : [imageBlock(part.image_url.url)];
}

/** The API refuses blank text. */
function textBlocks(text: string): readonly TextBlockParam[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function imageBlock(url: string): ImageBlockParam | TextBlockParam {
  const [, type, data] = /^data:([^;,]*);base64,(.*)$/s.exec(url) ?? [];
  if (type === undefined || data === undefined) return { type: "image", source: { type: "url", url } };
  const named = type === "image/jpg" ? "image/jpeg" : type;
  const media_type = imageTypes.find((known) => known === named);
  if (media_type === undefined) return { type: "text", text: `(an image of type ${type}, which cannot be shown)` };
  return { type: "image", source: { type: "base64", media_type, data } };
}

/** Only signed blocks are sent; plain reasoning is not. */
function lowerAssistant(message: AssistantMessage): readonly ContentBlockParam[] {
  const { content, tool_calls: calls = [], reasoning_details: details = [] } = message;
  const text = content ?? "";
  const places = placesOfDetails(details, { chars: text.length, calls: calls.length });
  const blocks = fill(places, text, calls);
  return blocks.some(({ type }) => !isThinking(type)) ? blocks : [];
}

function fill(places: readonly Place[], text: string, calls: readonly ToolCall[]): readonly ContentBlockParam[] {
  const blocks: ContentBlockParam[] = [];
  let from = 0;
  const waiting = [...calls];
  for (const place of places) {
    if (place.kind === "thinking") blocks.push(place.block);
    if (place.kind === "unsigned") blocks.push(unsignedBlock(place.thinking));
    if (place.kind === "text") {
      blocks.push(...textBlocks(text.slice(from, from + place.chars)));
      from += place.chars;
    }
    const call = place.kind === "call" ? waiting.shift() : undefined;
    if (call !== undefined) blocks.push(lowerCall(call));
  }
  return blocks;
}

/** The library's type requires a signature. */
function unsignedBlock(thinking: string): ThinkingBlockParam {
  return { type: "thinking", thinking } as ThinkingBlockParam; // its servers give none and expect none
}

/** True for blocks that take no cache mark and are not an answer by themselves. */
export function isThinking(type: ContentBlockParam["type"]): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function lowerCall({ id, function: { name, arguments: json } }: ToolCall): ToolUseBlockParam {
  return { type: "tool_use", id: sentCallId(id, anthropicCallIds), name: sentName(name), input: inputOf(json) };
}

/** The API requires an object. An incomplete call has its error as the result. */
function inputOf(json: string): unknown {
  const input = parseJson(json);
  return isRecord(input) ? input : {};
}

/**
 * Anthropic's signed thinking in `reasoning_details`: opaque blocks that must return unchanged and in their places, or the API
 * refuses the conversation. Placeholders mark the texts and calls between them. Loose, because unknown fields are signed too.
 */
const thinkingSchema = z.looseObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().min(1),
});
const redactedSchema = z.looseObject({ type: z.literal("redacted_thinking"), data: z.string().min(1) });
/** Thinking of a compatible server that signs nothing. Its name keeps it from Anthropic, which refuses it. */
const unsignedSchema = z.object({ type: z.literal("anthropic.thinking"), thinking: z.string() });
const textPlaceSchema = z.object({ type: z.literal("anthropic.text"), chars: z.number() });
const callPlaceSchema = z.object({ type: z.literal("anthropic.tool_use") });

/** One place in an answer. `chars`: UTF-16 units of its text. */
export type Place =
  | { readonly kind: "thinking"; readonly block: ThinkingBlockParam | RedactedThinkingBlockParam }
  | { readonly kind: "unsigned"; readonly thinking: string }
  | { readonly kind: "text"; readonly chars: number }
  | { readonly kind: "call" };

/** The signed blocks of a finished answer, with placeholders where needed. */
export function detailsOfPlaces(places: readonly Place[]): readonly unknown[] {
  const lastThinking = places.findLastIndex(isThought);
  const isInterleaved = places.slice(0, lastThinking + 1).some((place) => !isThought(place));
  return places.filter((place) => isInterleaved || isThought(place)).map(detailOf);
}

function isThought({ kind }: Place): boolean {
  return kind === "thinking" || kind === "unsigned";
}

/** The order of an answer's parts; thinking first when the history no longer fits. */
export function placesOfDetails(
  details: readonly unknown[],
  { chars, calls }: { readonly chars: number; readonly calls: number },
): readonly Place[] {
  const places = details.flatMap(placeOf);
  const placedChars = places.reduce((sum, place) => sum + (place.kind === "text" ? place.chars : 0), 0);
  const placedCalls = places.filter(({ kind }) => kind === "call").length;
  const areAllPlaced = placedChars === chars && placedCalls === calls;
  if (areAllPlaced && placedChars + placedCalls > 0) return places;
  return [
    ...places.filter(isThought),
    { kind: "text", chars },
    ...Array.from({ length: calls }, (): Place => ({ kind: "call" })),
  ];
}

function detailOf(place: Place): unknown {
  switch (place.kind) {
    case "thinking":
      return place.block;
    case "unsigned":
      return { type: "anthropic.thinking", thinking: place.thinking };
    case "text":
      return { type: "anthropic.text", chars: place.chars };
    case "call":
      return { type: "anthropic.tool_use" };
  }
}

/** Empty for details of other APIs. */
function placeOf(detail: unknown): readonly Place[] {
  // The detail itself returns, not a parsed copy, because every byte counts.
  if (isSigned(detail)) return [{ kind: "thinking", block: detail }];
  const unsigned = unsignedSchema.safeParse(detail).data;
  if (unsigned !== undefined) return [{ kind: "unsigned", thinking: unsigned.thinking }];
  const text = textPlaceSchema.safeParse(detail).data;
  if (text !== undefined) return [{ kind: "text", chars: text.chars }];
  return callPlaceSchema.safeParse(detail).success ? [{ kind: "call" }] : [];
}

function isSigned(detail: unknown): detail is ThinkingBlockParam | RedactedThinkingBlockParam {
  return thinkingSchema.safeParse(detail).success || redactedSchema.safeParse(detail).success;
}
