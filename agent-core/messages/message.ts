/** Internal message format in OpenAI style; only the wires convert it for their providers. Plain data that can be cloned. */
import * as z from "zod";
import { modelToolCall } from "../protocol/editor-models.ts";

const contentPart = z.discriminatedUnion("type", [
  /** Text in a user message: typed, or of an attachment. */
  z.object({
    type: z.literal("text"),
    text: z.string(),
    /** Attachment as the client sent it: a link with a name, or a resource with a text. Models get the part's text. */
    attached: z
      .object({
        uri: z.string(),
        /** Of a link. */
        name: z.string().exactOptional(),
        mimeType: z.string().exactOptional(),
        /** The client's reference, which it gets back in a replay. */
        reference: z.unknown().exactOptional(),
      })
      .readonly()
      .exactOptional(),
  }),
  /** Image in a user message; `url` is a data URL (`data:image/png;base64,…`). `reference`: as of a text. */
  z.object({
    type: z.literal("image_url"),
    image_url: z.object({ url: z.string() }),
    reference: z.unknown().exactOptional(),
  }),
]);
export type ContentPart = z.infer<typeof contentPart>;
export type TextPart = Extract<ContentPart, { type: "text" }>;
export type AttachedPart = NonNullable<TextPart["attached"]>;
export type ImagePart = Extract<ContentPart, { type: "image_url" }>;

/** All text of a message; `image` stands for each picture. Default: none. */
export function contentText(content: Message["content"], separator = "\n", image?: string): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map((part) => (part.type === "text" ? part.text : image))
    .filter((text) => text !== undefined)
    .join(separator);
}

/** Tool calls of a message; none of another role's. */
export function callsOf(message: Message): readonly ToolCall[] {
  return (message.role === "assistant" && message.tool_calls) || [];
}

/** The text that the user typed, without attachments. */
export function typedText(content: UserMessage["content"], separator = "\n\n"): string {
  if (typeof content === "string") return content;
  return content
    .flatMap((part) => (part.type === "text" && part.attached === undefined ? [part.text] : []))
    .join(separator);
}

/** `arguments` is repaired if the model wrote broken JSON that could be repaired. */
const toolCall = modelToolCall.extend({
  /** Opaque fields that the server sent with the call, such as Gemini's signature. Only its `origin` gets them back. */
  extra: z.record(z.string(), z.unknown()).readonly().exactOptional(),
});
export type ToolCall = z.infer<typeof toolCall>;

/** Image in a tool's result; `data` is base64. */
const toolImage = z.object({ mimeType: z.string(), data: z.string() });
export type ToolImage = z.infer<typeof toolImage>;

/** As a journal stores it. */
export const messageSchema = z.discriminatedUnion("role", [
  z.object({ role: z.literal("system"), content: z.string() }),
  z.object({
    role: z.literal("user"),
    content: z.union([z.string(), z.array(contentPart).readonly()]),
    /** The agent wrote this message; people do not see it. */
    synthetic: z.literal(true).exactOptional(),
  }),
  z.object({
    role: z.literal("assistant"),
    /** Null for an answer of tool calls only. */
    content: z.string().nullable(),
    tool_calls: z.array(toolCall).readonly().exactOptional(),
    /** Reasoning that the user sees. */
    reasoning: z.string().exactOptional(),
    /** Opaque parts (signatures, encrypted items, places of the reasoning). Only `origin` gets them back, unchanged. */
    reasoning_details: z.array(z.unknown()).readonly().exactOptional(),
    /** Server of the opaque parts (`originOf`). Older journals lack it: then every server gets the parts of its API. */
    origin: z.string().exactOptional(),
    /** Reason why the answer broke off, as a sentence. People keep such an answer; no model gets it as an answer. */
    unfinished: z.string().exactOptional(),
  }),
  z.object({
    role: z.literal("tool"),
    tool_call_id: z.string(),
    content: z.string(),
    /** Sent to a model that accepts images. Any other model gets a line of text in place of each. */
    images: z.array(toolImage).readonly().exactOptional(),
  }),
]);
export type Message = z.infer<typeof messageSchema>;
export type UserMessage = Extract<Message, { role: "user" }>;
export type AssistantMessage = Extract<Message, { role: "assistant" }>;
export type ToolMessage = Extract<Message, { role: "tool" }>;

/** The pictures of a message: base64, or data URLs. */
export function picturesOf(message: Message): readonly string[] {
  if (message.role === "tool") return (message.images ?? []).map(({ data }) => data);
  if (message.role !== "user" || typeof message.content === "string") return [];
  return message.content.flatMap((part) => (part.type === "text" ? [] : [part.image_url.url]));
}

/** The message with `content` in place of its texts and pictures. Only the user's messages and results are replaced. */
export function withContent(message: Message, content: string): Message {
  if (message.role === "user") return { ...message, content };
  if (message.role !== "tool") return message;
  const { images: _, ...rest } = message;
  return { ...rest, content };
}

/** Lines in a fence: output and code that the user quotes, and did not say. */
const FENCED = /^ {0,3}(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^ {0,3}\1[`~]*[ \t]*$|(?![\s\S]))/gm;

/** A typed text without the blocks that it quotes, and these blocks. */
export function ownWords(typed: string): { readonly own: string; readonly quoted: readonly string[] } {
  const quoted = [...typed.matchAll(FENCED)].map(([, , inner = ""]) => inner);
  return { own: typed.replace(FENCED, ""), quoted };
}
