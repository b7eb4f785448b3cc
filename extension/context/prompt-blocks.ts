/** Content blocks of a message: its text, and each attachment as it is at this moment. */
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import type { PromptBlock } from "../../agent-core/protocol/conversation.ts";
import type { PromptContent } from "../chat/prompt-queue.ts";

/** Texts of attachments that are more than a reference. Each rejects with the reason when there is no text. */
export type AttachmentTexts = {
  readonly [Kind in Exclude<Attachment["kind"], "file" | "folder" | "text" | "picture">]: (
    attachment: Extract<Attachment, { kind: Kind }>,
  ) => Promise<string>;
};

/** Never rejects: an attachment that cannot be read becomes a text that says so. */
export async function promptBlocks(
  { text, attachments = [] }: PromptContent,
  texts: AttachmentTexts,
): Promise<PromptBlock[]> {
  const blocks = await Promise.all(attachments.map((attachment) => blockOf(attachment, texts)));
  return [...(text.trim() === "" && blocks.length > 0 ? [] : [{ type: "text", text } as const]), ...blocks];
}

async function blockOf(attachment: Attachment, texts: AttachmentTexts): Promise<PromptBlock> {
  const { label } = attachment;
  switch (attachment.kind) {
    case "file":
    case "folder":
      return { type: "resource_link", uri: attachment.uri, name: label, _meta: { hermes: { attachment } } };
    case "picture": {
      const { mimeType, data, ...ref } = attachment;
      return { type: "image", mimeType, data, _meta: { hermes: { attachment: { ...ref, mimeType } } } };
    }
    case "text": {
      const { text, ...ref } = attachment;
      return embedded(`hermes:text/${encodeURIComponent(label)}`, text, ref);
    }
    default:
      return embedded(uriOf(attachment), await textOf(attachment, texts), attachment);
  }
}

function embedded(uri: string, text: string, attachment: object): PromptBlock {
  return { type: "resource", resource: { uri, text, mimeType: "text/plain" }, _meta: { hermes: { attachment } } };
}

type Embedded = Exclude<Attachment, { kind: "file" | "folder" | "text" | "picture" }>;

function uriOf(attachment: Embedded): string {
  if (attachment.kind === "lines") return `${attachment.uri}#L${attachment.start}-L${attachment.end}`;
  return `hermes:${attachment.kind}/${encodeURIComponent(attachment.label)}`;
}

async function textOf(attachment: Embedded, texts: AttachmentTexts): Promise<string> {
  try {
    // AttachmentTexts types each entry. TypeScript cannot tie `kind` to its entry, hence the cast.
    const read = texts[attachment.kind] as (attachment: Embedded) => Promise<string>;
    return await read(attachment);
  } catch (error) {
    return `[${attachment.label} could not be attached: ${messageOf(error)}]`;
  }
}
