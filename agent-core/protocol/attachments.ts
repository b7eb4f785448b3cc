/**
 * Attachments of a user's message, as the panel and the client pass them: references that the client reads when it sends
 * the message. On ACP each is one content block, and its `_meta.hermes` has the reference.
 */
import type { ContentBlock } from "@zed-industries/agent-client-protocol";
import * as z from "zod";
import { readMeta } from "./method.ts";

/** Limit for a picture that the panel shows, in base64. A message of the agent has at most 64 MiB. Characters. */
const MAX_PICTURE_CHARS = 64 * 1_024 * 1_024;
/** Limit for a pasted text. Characters. */
const MAX_TEXT_CHARS = 10_000_000;
/** Limit for the attachments of one message. */
const MAX_ATTACHMENTS = 100;

/** Formats of pictures that the panel shows and that models take. */
export const PictureType = z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]);
export type PictureType = z.infer<typeof PictureType>;

export const PictureData = z
  .string()
  .max(MAX_PICTURE_CHARS)
  .regex(/^[A-Za-z0-9+/]+=*$/);

export const AttachmentUri = z.string().max(8_192);

/** Text of the chip. */
const label = z.string().max(500);
/** Number of a line, from 1. */
const line = z.int().min(1);

export const Attachment = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("file"), uri: AttachmentUri, label }),
  z.object({ kind: z.literal("folder"), uri: AttachmentUri, label }),
  /** Lines of a file: a selection or a symbol, both ends included. */
  z.object({ kind: z.literal("lines"), uri: AttachmentUri, label, start: line, end: line }),
  /** Problems of the workspace, or of one file. */
  z.object({ kind: z.literal("problems"), label, uri: AttachmentUri.exactOptional() }),
  /** Output of the last command in the terminal with this name; default: the active terminal. */
  z.object({ kind: z.literal("terminal"), label, name: z.string().max(500).exactOptional() }),
  /** Changes of the working tree since the last commit. */
  z.object({ kind: z.literal("changes"), label }),
  z.object({ kind: z.literal("session"), sessionId: z.string().max(200), label }),
  /** A long text that the user pasted. */
  z.object({ kind: z.literal("text"), label, text: z.string().max(MAX_TEXT_CHARS) }),
  /** `data`: base64. */
  z.object({ kind: z.literal("picture"), label, mimeType: PictureType, data: PictureData }),
]);
export type Attachment = Readonly<z.infer<typeof Attachment>>;

export const Attachments = z.array(Attachment).max(MAX_ATTACHMENTS).readonly();

/** `_meta.hermes` of the option of the model, when the current model is known to take no pictures. */
export const HermesModelMeta = z.object({ refusesImages: z.literal(true) });
export type HermesModelMeta = z.infer<typeof HermesModelMeta>;

/** A match of a search after `@`. */
export const MentionItem = z.object({
  attachment: Attachment,
  /** Folder of a file, or another line of explanation. */
  detail: z.string().exactOptional(),
  /** Codicon of a symbol. Default: that of the attachment's kind. */
  icon: z.string().exactOptional(),
  /** Matched ranges of the attachment's label, in order. */
  marks: z.array(z.tuple([z.number(), z.number()]).readonly()).readonly(),
});
export type MentionItem = Readonly<z.infer<typeof MentionItem>>;

/** `_meta.hermes` of a content block: its attachment, without a text or a picture that the block itself has. */
const HermesAttachmentMeta = z.object({ attachment: z.looseObject({ kind: z.string() }) });

/** Attachment of a content block, also of one that another client sent; undefined for text and unknown content. */
export function attachmentOf(block: ContentBlock): Attachment | undefined {
  const known = readMeta(HermesAttachmentMeta, block._meta)?.attachment;
  return Attachment.safeParse({ ...foreignAttachment(block), ...known }).data;
}

/** Fields of an attachment that the block has without our `_meta`. */
function foreignAttachment(block: ContentBlock): object {
  switch (block.type) {
    case "image":
      return { kind: "picture", label: "Picture", mimeType: block.mimeType, data: block.data };
    case "resource_link":
      return { kind: block.uri.endsWith("/") ? "folder" : "file", uri: block.uri, label: block.name };
    case "resource": {
      const { resource } = block;
      return "text" in resource ? { kind: "text", label: lastName(resource.uri), text: resource.text } : {};
    }
    default:
      return {};
  }
}

function lastName(uri: string): string {
  const name = uri.split("/").findLast((part) => part !== "") ?? uri;
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // a percent sign that encodes nothing
  }
}
