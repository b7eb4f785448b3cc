/** Converts ACP's content blocks to a user message of the internal format. */
import { fileURLToPath } from "node:url";
import type { ContentBlock, EmbeddedResource, ResourceLink } from "@zed-industries/agent-client-protocol";
import type { ContentPart } from "../messages/message.ts";

/** Limit of embedded text: one attachment must not fill the window. Characters. */
const EMBEDDED_TEXT_LIMIT = 200_000;

/** Returns parts for a message with images, else a string. */
export function userMessage(blocks: readonly ContentBlock[]): string | readonly ContentPart[] {
  const parts = blocks.map(partOf);
  if (parts.some((part) => part.type === "image_url")) return parts;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
}

function partOf(block: ContentBlock): ContentPart {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
    case "audio":
      return text(`[An audio attachment (${block.mimeType}) was left out: audio is not supported.]`);
    case "resource_link":
      return text(linkText(block));
    case "resource":
      return text(embeddedText(block));
  }
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
