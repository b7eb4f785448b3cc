/** Content blocks of messages as text. */
import type { ContentBlock } from "@zed-industries/agent-client-protocol";
import { t } from "../texts.ts";

/** A content block as Markdown. Images, sound and binary data are named instead of shown. */
export function contentText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return `[${(block.title ?? block.name).replaceAll(/[\\[\]]/g, String.raw`\$&`)}](<${block.uri.replaceAll(/[<>\n]/g, "")}>)`;
    case "resource":
      return "text" in block.resource ? block.resource.text : t("(attachment {0})", block.resource.uri);
    case "image":
      return t("(image, {0})", block.mimeType);
    case "audio":
      return t("(audio, {0})", block.mimeType);
    default:
      return "";
  }
}
