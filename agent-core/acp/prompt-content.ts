/** Content of a user message: from ACP's content blocks, and back to them for a replay. */
import { isAbsolute } from "node:path";
import type { ContentBlock, EmbeddedResource, ImageContent, ResourceLink } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../agent/ai-agent.ts";
import { withoutSecretFiles } from "../approval/secret-paths.ts";
import { existingPath, pathOfUri } from "../host/workspace-folders.ts";
import { attachedText, textOfAttached } from "../messages/attached-text.ts";
import { imageTypeOfBase64 } from "../messages/image-type.ts";
import type { ContentPart, ImagePart, TextPart, UserMessage } from "../messages/message.ts";
import { decodeText } from "../platform/text-file.ts";
import { visibleText } from "../platform/visible-text.ts";
import { attachmentOf } from "../protocol/attachments.ts";
import type { PromptBlock } from "../protocol/conversation.ts";
import { invalidParams } from "../protocol/handle.ts";
import { refusesImages } from "../providers/model-info.ts";

/** Limit of embedded text: one attachment must not fill the window. Characters. */
const EMBEDDED_TEXT_LIMIT = 200_000;

/** Returns parts for a message with attachments, else a string. Throws the protocol's error for an empty or invalid one. */
export function userMessage(blocks: readonly ContentBlock[]): string | readonly ContentPart[] {
  if (blocks.every((block) => block.type === "text" && block.text.trim() === "")) {
    throw invalidParams("prompt", "it has no text and no attachment");
  }
  if (blocks.every(({ type }) => type === "audio")) {
    throw invalidParams("prompt", "Hermes cannot hear audio. Send the words as text");
  }
  const opened = blocks.map(openedBlock);
  const parts = opened.map(partOf);
  if (opened.some(({ type }) => type !== "text" && type !== "audio")) return parts;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
}

/** The block that a part came from. A long text returns as it was cut. */
export function blockOf(part: ContentPart): PromptBlock {
  const attachment: unknown = part.type === "text" ? part.attached?.reference : part.reference;
  const meta = attachment === undefined ? {} : { _meta: { hermes: { attachment } } };
  if (part.type === "image_url") {
    const [head = "", data = ""] = part.image_url.url.split(";base64,");
    return { type: "image", mimeType: head.replace(/^data:/, ""), data, ...meta };
  }
  if (part.attached === undefined) return { type: "text", text: part.text };
  const { uri, name, mimeType } = part.attached;
  const type = mimeType === undefined ? {} : { mimeType };
  if (name !== undefined) return { type: "resource_link", uri, name, ...type, ...meta };
  return { type: "resource", resource: { uri, text: textOfAttached(part), ...type }, ...meta };
}

/** The message with another text; its attachments follow the text. */
export function withText(message: UserMessage["content"], content: UserMessage["content"]): UserMessage["content"] {
  if (typeof message === "string") return content;
  const attached = message.filter((part) => part.type !== "text" || part.attached !== undefined);
  return [...(typeof content === "string" ? [text(content)] : content), ...attached];
}

/** Throws the protocol's error for a picture that the agent's model is known not to take. */
export function checkPictures(message: UserMessage["content"], { setup }: AIAgent): void {
  const model = setup.models.current;
  if (!hasPictures(message) || !refusesImages(model, setup.modelFacts(model))) return;
  throw invalidParams("prompt", `${model.model} cannot see pictures. Remove the picture, or choose another model.`);
}

/**
 * The message with large pictures scaled down. Rejects with the protocol's error for a picture that cannot be sent, and
 * with the signal's reason.
 */
export async function withFittingPictures(
  message: UserMessage["content"],
  agent: AIAgent,
  signal: AbortSignal,
): Promise<UserMessage["content"]> {
  checkPictures(message, agent);
  return hasPictures(message) ? (await import("../web/picture.ts")).fitPictures(message, signal) : message;
}

export function hasPictures(message: UserMessage["content"]): message is readonly ContentPart[] {
  return typeof message !== "string" && message.some(({ type }) => type === "image_url");
}

/** One line for the user for each attachment that the model does not get. */
export function leftOut(blocks: readonly ContentBlock[]): readonly string[] {
  return blocks.map(openedBlock).flatMap((block) => {
    if (block.type === "image" && imageTypeOfBase64(block.data) === undefined)
      return [
        `A picture was left out: it is no PNG, JPEG, WebP or GIF (${block.mimeType}). Convert it, or attach its path.`,
      ];
    if (block.type === "audio") return ["An audio attachment was left out: Hermes does not support audio."];
    if (block.type !== "resource") return [];
    const name = filePath(block.resource.uri) ?? block.resource.uri;
    if (!("text" in block.resource)) {
      return [`${name} was left out: its content is binary. Attach a path for the agent's tools instead.`];
    }
    if (block.resource.text.length <= EMBEDDED_TEXT_LIMIT) return [];
    const limit = EMBEDDED_TEXT_LIMIT.toLocaleString("en");
    return [`${name} is too long: the model gets its first ${limit} characters.`];
  });
}

/** Bytes that are a picture or a text, as such: some editors embed every file as bytes, and an SVG is text. */
function openedBlock(block: ContentBlock): ContentBlock {
  const bytes = bytesOf(block);
  if (bytes === undefined) return block;
  const { uri, mimeType, data } = bytes;
  const meta = block._meta === undefined ? {} : { _meta: block._meta };
  const picture = imageTypeOfBase64(data);
  if (picture !== undefined)
    return block.type === "image" && IMAGE_TYPE.test(mimeType ?? "")
      ? block
      : { type: "image", mimeType: picture, data, ...meta };
  const mayBeText = BASE64.test(data) && (block.type !== "image" || mimeType?.includes("svg") === true);
  const decoded = mayBeText ? decodeText(Buffer.from(data, "base64")) : undefined;
  if (decoded === undefined || decoded === "") return block;
  return { type: "resource", resource: { uri, text: decoded, ...typeOf(mimeType) }, ...meta };
}

type Bytes = { readonly uri: string; readonly mimeType: string | null | undefined; readonly data: string };

/** Undefined for a block without base64. */
function bytesOf(block: ContentBlock): Bytes | undefined {
  if (block.type === "image") return { uri: block.uri ?? "picture", mimeType: block.mimeType, data: block.data };
  if (block.type !== "resource" || "text" in block.resource) return undefined;
  const { uri, mimeType, blob } = block.resource;
  return { uri, mimeType, data: blob };
}

function partOf(block: ContentBlock): ContentPart {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return imagePart(block);
    case "audio":
      return text(`[An audio attachment (${block.mimeType}) was left out: audio is not supported.]`);
    case "resource_link": {
      const { uri, name, mimeType } = block;
      return { ...text(linkText(block)), attached: { uri, name, ...typeOf(mimeType), ...referenceOf(block) } };
    }
    case "resource": {
      const { resource } = block;
      if (!("text" in resource)) return text(`[Attached ${nameOf(block)}: binary content was left out.]`);
      const { uri, mimeType } = resource;
      // The user chose our own diff as a whole, and not each of its files.
      const isDiff = uri.startsWith("hermes:changes/");
      const shown = embeddedText(uri, isDiff ? withoutSecretFiles(resource.text) : resource.text);
      return attachedText(shown, {
        name: nameOf(block),
        lines: linesIn(uri),
        uri,
        ...typeOf(mimeType),
        ...referenceOf(block),
      });
    }
  }
}

function typeOf(mimeType: string | null | undefined): { readonly mimeType?: string } {
  return typeof mimeType === "string" ? { mimeType } : {};
}

/** The reference of our own client, without the content that the block has. */
function referenceOf({ _meta: meta }: ContentBlock): { readonly reference?: unknown } {
  const hermes = meta?.["hermes"];
  return typeof hermes === "object" && hermes !== null && "attachment" in hermes
    ? { reference: hermes.attachment }
    : {};
}

const IMAGE_TYPE = /^image\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

function imagePart(block: ImageContent & { type: "image" }): ImagePart {
  const { mimeType, data } = block;
  if (!IMAGE_TYPE.test(mimeType)) {
    throw invalidParams("prompt", `an image has the type ${JSON.stringify(mimeType)} instead of image/…`);
  }
  if (!BASE64.test(data)) throw invalidParams("prompt", `the data of an image (${mimeType}) is not base64`);
  return { type: "image_url", image_url: { url: `data:${mimeType};base64,${data}` }, ...referenceOf(block) };
}

function linkText(block: ResourceLink & { type: "resource_link" }): string {
  const { uri, name } = block;
  const path = onOneLine(filePath(uri));
  if (path === undefined) return `[Attached link ${JSON.stringify(name)}: ${onOneLine(uri)}. It was not fetched.]`;
  const lines = linesIn(uri);
  if (lines !== undefined) return `[Attached lines ${lines} of ${path}]`;
  // Our own client names the kind, also of a folder such as `x.app`.
  if (attachmentOf(block)?.kind === "folder") return `[Attached folder: ${path}]`;
  // Not every editor ends a folder with a slash.
  return /\.[^/]+$/.test(path) ? `[Attached file: ${path}]` : `[Attached path: ${path}]`;
}

/** A name with line feeds is quoted: the message around it is the user's own words. */
function onOneLine<Text extends string | undefined>(text: Text): Text | string {
  return text !== undefined && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text) ? visibleText(JSON.stringify(text)) : text;
}

/** Range of lines in a fragment: `#L3`, `#L3-L9`, GitHub's `#L3C1-L9C4`, or Zed's `#L3:9`. */
const LINES = /#L?(\d+)(?:C\d+)?(?:[-:]L?(\d+)(?:C\d+)?)?$/;
/** A line with its column, as `?line=3&column=1`, `:3:1`, `::3` or `#L3,1`. */
const PLACE = /(?:[?&]line=|::?|#L?)(\d+)(?:(?:&\w+=|[:,])\d+)?$/;

/** Undefined for none, for a file whose name only looks so, and for the port or number in another address. */
function linesIn(uri: string): string | undefined {
  if (filePath(uri) === undefined && !/#L\d/.test(uri)) return undefined;
  const [, start, end = start] = LINES.exec(uri) ?? PLACE.exec(uri) ?? [];
  const whole = isAbsolute(uri) ? uri : pathOfUri(uri);
  return start === undefined || (whole !== undefined && existingPath(uri, "/") === whole)
    ? undefined
    : `${start}-${end}`;
}

/** The text within the limit. */
function embeddedText(uri: string, whole: string): string {
  if (whole.length <= EMBEDDED_TEXT_LIMIT) return whole;
  const rest = filePath(uri) === undefined ? "" : "; read the file for the rest";
  return `${whole.slice(0, EMBEDDED_TEXT_LIMIT).toWellFormed()}\n[… cut${rest}]`;
}

/** Path of a file, else the label of our own client, else the address. */
function nameOf(block: EmbeddedResource & { type: "resource" }): string {
  const { uri } = block.resource;
  const path = filePath(uri);
  if (path !== undefined) return path;
  return uri.startsWith("hermes:") ? (attachmentOf(block)?.label ?? uri) : uri;
}

/** Undefined for an address that is no file's. */
function filePath(uri: string): string | undefined {
  const path = isAbsolute(uri) ? uri : pathOfUri(uri.replace(LINES, ""));
  return existingPath(uri, "/") ?? path?.replace(LINES, "");
}

function text(value: string): TextPart {
  return { type: "text", text: value };
}
