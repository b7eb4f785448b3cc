/** Attachments of messages: identity, names, icons, places, and their records in content blocks and in the panel's memory. */
import type { ContentBlock } from "@zed-industries/agent-client-protocol";
import { containedText } from "../../agent-core/platform/visible-text.ts";
import type { Attachment, PictureType } from "../../agent-core/protocol/attachments.ts";
import { t } from "../texts.ts";
import { fieldsOf } from "./agent-meta.ts";

/** Text and attachments of a message that is being written. */
export type Draft = {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Reason why something was not attached. The next change removes it. */
  readonly note?: string | undefined;
  /** Number of reads of pictures and files that still run. */
  readonly reading?: number;
};

export const emptyDraft: Draft = { text: "", attachments: [] };

/** Limit of the protocol for the attachments of one message. */
const MAX_ATTACHMENTS = 100;

/** The draft with `added` at its end. An attachment that is there already is not added again. */
export function withAttachments(draft: Draft, added: readonly Attachment[]): Draft {
  const all = [...draft.attachments, ...newIn(draft, added)];
  if (all.length <= MAX_ATTACHMENTS) return { ...draft, attachments: all, note: undefined };
  const note = t(
    "A message has at most {0} attachments: {1} were left out.",
    MAX_ATTACHMENTS,
    all.length - MAX_ATTACHMENTS,
  );
  return { ...draft, attachments: all.slice(0, MAX_ATTACHMENTS), note };
}

/** Those of `added` that the draft does not have yet. */
export function newIn(draft: Draft, added: readonly Attachment[]): readonly Attachment[] {
  const known = new Set(draft.attachments.map(identity));
  return added.filter((attachment) => {
    const id = identity(attachment);
    return id === undefined || (!known.has(id) && known.add(id));
  });
}

export function withoutAttachment(draft: Draft, removed: Attachment): Draft {
  const attachments = draft.attachments.filter((attachment) => attachment !== removed);
  return { ...draft, attachments, note: undefined };
}

export function withText(draft: Draft, text: string): Draft {
  return { ...draft, text, note: undefined };
}

/** The draft has something to send. */
export function isSendable({ text, attachments }: Draft): boolean {
  return text.trim() !== "" || attachments.length > 0;
}

/** Equal for two references to the same thing; undefined for contents, which are never compared. */
function identity(attachment: Attachment): string | undefined {
  const { label: _, ...reference } = attachment;
  return attachment.kind === "text" || attachment.kind === "picture" ? undefined : JSON.stringify(reference);
}

/** Size of the content that the attachment itself has. Characters. */
export function contentLength(attachment: Attachment): number {
  if (attachment.kind === "picture") return attachment.data.length;
  return attachment.kind === "text" ? attachment.text.length : 0;
}

type KindLook = { readonly icon: string; readonly name: string };

const looks: Readonly<Record<Attachment["kind"], KindLook>> = {
  file: { icon: "file", name: t("File") },
  folder: { icon: "folder", name: t("Folder") },
  lines: { icon: "list-selection", name: t("Lines") },
  problems: { icon: "warning", name: t("Problems") },
  terminal: { icon: "terminal", name: t("Terminal") },
  changes: { icon: "git-compare", name: t("Changes") },
  session: { icon: "comment-discussion", name: t("Session") },
  text: { icon: "note", name: t("Text") },
  picture: { icon: "file-media", name: t("Picture") },
};

/** Icon and name of the attachment's kind. */
export function lookOf({ kind }: Attachment): KindLook {
  return looks[kind];
}

/** Limit of a label. Characters. */
export const LABEL_CHARS = 200;

/** `text` on one line, cut when it is long. */
export function shortLabel(text: string, chars = LABEL_CHARS): string {
  const cut = text.length > chars ? `${text.slice(0, chars)}…` : text;
  return onOneLine(cut).trim() || t("(no name)");
}

/** `text` without line breaks, and without characters that disturb the text around it. */
export function onOneLine(text: string): string {
  return containedText(text.replaceAll(/\s+/g, " "));
}

/** File and first line that the attachment refers to; undefined for one without a file. */
export function placeOf(attachment: Attachment): { readonly path: string; readonly line?: number } | undefined {
  if (!("uri" in attachment) || attachment.kind === "folder") return undefined;
  const path = pathOf(attachment.uri);
  if (path === undefined) return undefined;
  return attachment.kind === "lines" ? { path, line: attachment.start } : { path };
}

/** Path of a file's address; undefined for any other address. */
function pathOf(uri: string | undefined): string | undefined {
  const [, server = "", path] = /^file:\/\/([^/]*)(\/[^?#]*)/i.exec(uri ?? "") ?? [];
  if (path === undefined) return undefined;
  const host = server === "" || server === "localhost" ? "" : `//${server}`;
  try {
    // Windows: the path of /c:/a is c:/a, and a shared folder is on a server.
    return `${host}${decodeURIComponent(path).replace(/^\/([a-z]:)/i, "$1")}`;
  } catch {
    return undefined;
  }
}

/** Limit of a title. Characters. */
const TITLE_CHARS = 1_000;

/** Folder of an attachment among others with its label: as much of its path as tells them apart. Default: none. */
export function folderAmong(attachments: readonly Attachment[], attachment: Attachment): string | undefined {
  const own = foldersOf(attachment);
  const others = attachments.filter((other) => other !== attachment && other.label === attachment.label);
  if (others.length === 0) return undefined;
  const ends = own.map((_, index) => own.slice(own.length - 1 - index).join("/"));
  return ends.find((end, index) =>
    others.every(
      (other) =>
        foldersOf(other)
          .slice(-1 - index)
          .join("/") !== end,
    ),
  );
}

function foldersOf(attachment: Attachment): readonly string[] {
  const path = "uri" in attachment ? pathOf(attachment.uri) : undefined;
  return path?.replace(/\/$/, "").split("/").slice(0, -1) ?? [];
}

/** Full path with lines, or the label of an attachment without a path. */
export function titleOf(attachment: Attachment): string {
  const uri = "uri" in attachment ? attachment.uri : undefined;
  const place = pathOf(uri) ?? uri ?? attachment.label;
  const lines = attachment.kind === "lines" ? `:${attachment.start}-${attachment.end}` : "";
  return `${looks[attachment.kind].name}: ${shortLabel(`${place}${lines}`, TITLE_CHARS)}`;
}

/** Attachment that a content block was made from; undefined for a block that the user wrote. */
export function attachmentIn(block: ContentBlock): Attachment | undefined {
  const reference = fieldsOf(fieldsOf(block._meta?.["hermes"])["attachment"]);
  if (block.type === "image")
    return toAttachment({
      label: t("Picture"),
      ...reference,
      kind: "picture",
      mimeType: block.mimeType,
      data: block.data,
    });
  const text = block.type === "resource" && "text" in block.resource ? block.resource.text : undefined;
  const known = toAttachment(reference["kind"] === "text" ? { ...reference, text } : reference);
  if (known !== undefined) return known;
  if (block.type === "resource_link") return { kind: "file", uri: block.uri, label: block.title ?? block.name };
  if (block.type !== "resource" || text === undefined) return undefined;
  return { kind: "text", label: pathOf(block.resource.uri) ?? block.resource.uri, text };
}

const fieldTypes: Readonly<Record<Attachment["kind"], Readonly<Record<string, "string" | "number">>>> = {
  file: { uri: "string" },
  folder: { uri: "string" },
  lines: { uri: "string", start: "number", end: "number" },
  problems: {},
  terminal: {},
  changes: {},
  session: { sessionId: "string" },
  text: { text: "string" },
  picture: { mimeType: "string", data: "string" },
};

/** Format of a picture that every browser shows and that models take. It loads nothing and runs nothing. */
export function isPictureType(type: unknown): type is PictureType {
  return PICTURE_TYPES.includes(type);
}

const PICTURE_TYPES: readonly unknown[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Undefined for a value of another shape, as another version of the panel may have kept it. */
export function toAttachment(value: unknown): Attachment | undefined {
  const fields = fieldsOf(value);
  const { kind, label } = fields;
  if (typeof kind !== "string" || typeof label !== "string" || !Object.hasOwn(fieldTypes, kind)) return undefined;
  if (kind === "picture" && !isPictureType(fields["mimeType"])) return undefined;
  const types = Object.entries(fieldTypes[kind as Attachment["kind"]]);
  // The table has the fields that each kind needs.
  return types.every(([name, type]) => typeof fields[name] === type) ? (fields as Attachment) : undefined;
}
