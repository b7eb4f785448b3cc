/** From the history to the messages of Anthropic's API. Pure, and append-only: a longer history only adds blocks. */
import { createHash } from "node:crypto";
import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageParam,
  TextBlockParam,
  ToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/messages";
import type { AssistantMessage, ContentPart, Message, ToolCall } from "../../messages/message.ts";
import { type Place, placesOfDetails } from "./anthropic-thinking-blocks.ts";

/** A message whose content is always in blocks: a string would change its bytes when a cache mark is put on it. */
export type BlockMessage = Omit<MessageParam, "role" | "content"> & {
  readonly role: "user" | "assistant";
  readonly content: readonly ContentBlockParam[];
};

/** The API refuses a user message without a word. */
const NO_TEXT = "(empty message)";

/** What Anthropic accepts as the id of a call; other providers put dots and colons in, or whole tokens. */
const CALL_ID = /^[\w-]{1,64}$/;
/** Name of a tool, also of one that the model made up. */
const NAME_CHARS = 64;

const imageTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

/** The system prompt's blocks. */
export function lowerSystem(messages: readonly Message[]): readonly TextBlockParam[] {
  return messages.flatMap((message) => (message.role === "system" ? textBlocks(message.content) : []));
}

/** All but the system prompt. What follows a tool result from the user's side is part of the same message. */
export function lowerMessages(messages: readonly Message[]): readonly BlockMessage[] {
  const lowered: BlockMessage[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const content = lowerContent(message);
    // Nothing but thinking, or nothing at all: the API refuses both.
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
      const { content } = message;
      return [
        { type: "tool_result", tool_use_id: callId(message.tool_call_id), ...(content.trim() !== "" && { content }) },
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

/** Blank text is refused wherever it stands. */
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

/** Plain reasoning stays here: only signed blocks may go back. */
function lowerAssistant(message: AssistantMessage): readonly ContentBlockParam[] {
  const { content, tool_calls: calls = [], reasoning_details: details = [] } = message;
  const text = content ?? "";
  const places = placesOfDetails(details, { chars: text.length, calls: calls.length });
  const blocks = fill(places, text, calls);
  return blocks.some(({ type }) => !isThinking(type)) ? blocks : [];
}

/** Puts text and calls into their places. */
function fill(places: readonly Place[], text: string, calls: readonly ToolCall[]): readonly ContentBlockParam[] {
  const blocks: ContentBlockParam[] = [];
  let from = 0;
  const waiting = [...calls];
  for (const place of places) {
    if (place.kind === "thinking") blocks.push(place.block);
    if (place.kind === "text") {
      blocks.push(...textBlocks(text.slice(from, from + place.chars)));
      from += place.chars;
    }
    const call = place.kind === "call" ? waiting.shift() : undefined;
    if (call !== undefined) blocks.push(lowerCall(call));
  }
  return blocks;
}

/** True for blocks that may bear no cache mark and are no answer by themselves. */
export function isThinking(type: ContentBlockParam["type"]): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function lowerCall({ id, function: { name, arguments: json } }: ToolCall): ToolUseBlockParam {
  return { type: "tool_use", id: callId(id), name: toolName(name), input: inputOf(json) };
}

/** A call that was cut off stays in the history, with the error as its result; the API wants an object. */
function inputOf(json: string): unknown {
  try {
    const input: unknown = JSON.parse(json);
    return typeof input === "object" && input !== null && !Array.isArray(input) ? input : {};
  } catch {
    return {};
  }
}

/** The same stand-in for the same id, so that a call and its result still find each other. */
function callId(id: string): string {
  return CALL_ID.test(id) ? id : `toolu_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

function toolName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, NAME_CHARS) || "_";
}
