/** Converts ACP's content blocks to a user message of the internal format. */
import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResource, ImageContent, ResourceLink } from "@zed-industries/agent-client-protocol";
import type { ContentPart } from "../messages/message.ts";
import { invalidParams } from "../protocol/handle.ts";

/** Limit of embedded text: one attachment must not fill the window. Characters. */
const EMBEDDED_TEXT_LIMIT = 200_000;

/** Returns parts for a message with images, else a string. Throws the protocol's error for an empty or invalid message. */
export function userMessage(blocks: readonly ContentBlock[]): string | readonly ContentPart[] {
  if (blocks.every((block) => block.type === "text" && block.text.trim() === "")) {
    throw invalidParams("prompt", "it has no text and no attachment");
  }
  const parts = blocks.map(partOf);
  if (parts.some((part) => part.type === "image_url")) return parts;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
}

/** One line for the user for each attachment that the model does not get. */
export function leftOut(blocks: readonly ContentBlock[]): readonly string[] {
  return blocks.flatMap((block) => {
    if (block.type === "audio") return ["An audio attachment was left out: Hermes does not support audio."];
    if (block.type !== "resource" || "text" in block.resource) return [];
    const { uri } = block.resource;
    return [
      `${filePath(uri) ?? uri} was left out: its content is binary. Attach a path for the agent's tools instead.`,
    ];
  });
}

function partOf(block: ContentBlock): ContentPart {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      checkImage(block);
      return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
    case "audio":
      return text(`[An audio attachment (${block.mimeType}) was left out: audio is not supported.]`);
    case "resource_link":
      return text(linkText(block));
    case "resource":
      return text(embeddedText(block));
  }
}

const IMAGE_TYPE = /^image\/[\w.+-]+$/;
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

function checkImage({ mimeType, data }: ImageContent): void {
  if (!IMAGE_TYPE.test(mimeType)) {
    throw invalidParams("prompt", `an image has the type ${JSON.stringify(mimeType)} instead of image/…`);
  }
  if (!BASE64.test(data)) throw invalidParams("prompt", `the data of an image (${mimeType}) is not base64`);
}

function linkText({ uri, name }: ResourceLink): string {
  const path = filePath(uri);
  if (path !== undefined) return `[Attached file: ${path}]`;
  return `[Attached link "${name}": ${uri}. It was not fetched; only files can be read directly.]`;
}

function embeddedText({ resource }: EmbeddedResource): string {
  const name = filePath(resource.uri) ?? resource.uri;
  if (!("text" in resource)) return `[Attached ${name}: binary content was left out.]`;
  const cut = resource.text.length > EMBEDDED_TEXT_LIMIT;
  const shown = cut
    ? `${resource.text.slice(0, EMBEDDED_TEXT_LIMIT)}\n[… cut; read the file for the rest]`
    : resource.text;
  return `<attachment name=${JSON.stringify(name)}>\n${shown}\n</attachment>`;
}

function filePath(uri: string): string | undefined {
  if (!uri.startsWith("file://")) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined; // a file URL of another operating system: shown as a link
  }
}

function text(value: string): ContentPart {
  return { type: "text", text: value };
}
