/** Attachments of a draft: files, pictures and long texts, read, scaled down or refused with a reason; and the search after `@`. */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Attachment, MentionItem, PictureType } from "../agent-core/protocol/attachments.ts";
import type { HostMessage } from "../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../agent-core/protocol/panel-messages.ts";
import { type Draft, isPictureType, onOneLine, withAttachments } from "./state/attachments.ts";
import { formatNumber, t } from "./texts.ts";

/** Models scale larger pictures down themselves: Anthropic to 1,568 pixels. */
const MAX_SIDE_PX = 1_568;
/** In base64 this is 5 MiB, the limit of Anthropic's API. Bytes. */
const MAX_PICTURE_BYTES = 3.75 * 1_024 * 1_024;
/** Larger files are not even read. Bytes. */
const MAX_FILE_BYTES = 50 * 1_024 * 1_024;
const MAX_TEXT_BYTES = 1_024 * 1_024;

/** Longer pasted texts become a chip. */
const PASTED_LINES = 40;
const PASTED_CHARS = 4_000;

export type Refusal = { readonly reason: string };

/** Reads files into the draft, which shows the reason for each refused one. */
export async function attachFiles(draft: Signal<Draft>, files: readonly File[], seesPictures: boolean): Promise<void> {
  await attachRead(
    draft,
    files.map((file) => readFile(file, seesPictures)),
  );
}

type Attached = { readonly attachments: readonly Attachment[]; readonly refused: readonly string[] };

/** Adds attachments to the draft. A large picture is scaled down first. */
export async function attachFitting(draft: Signal<Draft>, added: Attached, seesPictures: boolean): Promise<void> {
  const { attachments, refused } = added;
  const isPlain = refused.length === 0 && attachments.every(({ kind }) => kind !== "picture");
  if (isPlain) draft.value = withAttachments(draft.peek(), attachments);
  else await attachRead(draft, [...attachments.map((one) => fitted(one, seesPictures)), ...refused.map(refusal)]);
}

async function refusal(reason: string): Promise<Refusal> {
  return { reason };
}

async function attachRead(draft: Signal<Draft>, reading: readonly Promise<Attachment | Refusal>[]): Promise<void> {
  draft.value = { ...draft.peek(), note: undefined, reading: (draft.peek().reading ?? 0) + 1 };
  const results = await Promise.all(reading);
  const reasons = results.flatMap((result) => ("reason" in result ? [result.reason] : []));
  const next = withAttachments(
    draft.peek(),
    results.filter((result): result is Attachment => !("reason" in result)),
  );
  const note = [...reasons, ...(next.note === undefined ? [] : [next.note])].join("\n");
  draft.value = { ...next, note: note === "" ? undefined : note, reading: (next.reading ?? 1) - 1 };
}

async function readFile(file: File, seesPictures: boolean): Promise<Attachment | Refusal> {
  const name = file.name === "" ? t("Picture") : file.name;
  if (file.size > MAX_FILE_BYTES) return refused(name, t("it is larger than 50 MB"));
  if (file.type.startsWith("image/")) {
    return seesPictures ? fitPicture(file, name) : refused(name, BLIND);
  }
  const bytes = file.size > MAX_TEXT_BYTES ? undefined : await file.arrayBuffer().catch(() => undefined);
  const text = bytes && decodedText(bytes);
  if (text !== undefined) return { kind: "text", label: labelOf(name), text };
  return refused(
    name,
    t('it is neither a picture nor a short text. Add it by "@", then "Files and Pictures from Disk"'),
  );
}

const BLIND = t("the model sees no pictures. Choose another model first");

function refused(name: string, reason: string): Refusal {
  return { reason: t("{0} was not attached: {1}.", onOneLine(labelOf(name)), reason) };
}

/** Limit of the protocol. Characters. */
const LABEL_CHARS = 500;

function labelOf(name: string): string {
  return name.slice(0, LABEL_CHARS);
}

/** Undefined for bytes that are not text. */
function decodedText(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

async function fitted(attachment: Attachment, seesPictures: boolean): Promise<Attachment | Refusal> {
  if (attachment.kind !== "picture") return attachment;
  if (!seesPictures) return refused(attachment.label, BLIND);
  const bytes = Uint8Array.from(atob(attachment.data), (character) => character.charCodeAt(0));
  return fitPicture(new Blob([bytes], { type: attachment.mimeType }), attachment.label);
}

/** The picture as it is when it fits, else smaller, and as JPEG when PNG is too large. */
async function fitPicture(file: Blob, name: string): Promise<Attachment | Refusal> {
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (bitmap === undefined)
    return refused(name, t("its format is unknown or it is damaged. Use PNG, JPEG, GIF or WebP"));
  try {
    const scale = Math.min(1, MAX_SIDE_PX / Math.max(bitmap.width, bitmap.height));
    const fits = scale === 1 && file.size <= MAX_PICTURE_BYTES && isPictureType(file.type);
    const smaller = fits ? file : await firstFitting(bitmap, scale, file.type);
    if (smaller === undefined) return refused(name, t("it is too large, also when scaled down"));
    // The canvas writes only PNG and JPEG.
    const mimeType = smaller.type as PictureType;
    return { kind: "picture", label: labelOf(name), mimeType, data: await base64Of(smaller) };
  } finally {
    bitmap.close();
  }
}

type Writing = { readonly type: string; readonly scale: number; readonly quality?: number };

async function firstFitting(bitmap: ImageBitmap, scale: number, type: string): Promise<Blob | undefined> {
  const writings: readonly Writing[] = [
    ...(type === "image/jpeg" ? [] : [{ type: "image/png", scale }]),
    { type: "image/jpeg", scale, quality: 0.9 },
    { type: "image/jpeg", scale, quality: 0.7 },
  ];
  for (const writing of writings) {
    const written = await draw(bitmap, writing);
    if (written.size <= MAX_PICTURE_BYTES) return written;
  }
  return undefined;
}

async function draw(bitmap: ImageBitmap, { type, scale, quality }: Writing): Promise<Blob> {
  const [width, height] = [bitmap.width, bitmap.height].map((side) => Math.max(1, Math.round(side * scale)));
  const canvas = new OffscreenCanvas(width ?? 1, height ?? 1);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type, ...(quality !== undefined && { quality }) });
}

function base64Of(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ""));
    reader.onerror = () => reject(reader.error ?? new Error(t("could not read the picture")));
    reader.readAsDataURL(blob);
  });
}

/** A long pasted text as an attachment; undefined for a short one. */
export function longText(text: string): Attachment | undefined {
  const lines = text.split("\n", PASTED_LINES + 1).length;
  if (lines <= PASTED_LINES && text.length <= PASTED_CHARS) return undefined;
  const count = text.trimEnd().split("\n").length;
  const label =
    count > 1
      ? t("Pasted text, {0} lines", formatNumber(count))
      : t("Pasted text, {0} characters", formatNumber(text.length));
  return { kind: "text", label, text };
}

export type Mentions = {
  /** The word that was searched, which the user may have changed since. */
  readonly query: string;
  readonly items: readonly MentionItem[];
  /** False while the host still indexes the workspace. */
  readonly isComplete: boolean;
};

export class MentionSearch {
  readonly #post: (message: PanelMessage) => void;
  readonly #found: Signal<Mentions | undefined> = signal(undefined);
  #query: string | undefined;
  /** Number of the last search. */
  #id = 0;

  constructor(post: (message: PanelMessage) => void) {
    this.#post = post;
  }

  /** The last matches, which stay until those of the next word are there; undefined before the first ones. */
  get found(): ReadonlySignal<Mentions | undefined> {
    return this.#found;
  }

  search(query: string): void {
    if (query === this.#query) return;
    this.#query = query;
    this.#id += 1;
    this.#post({ type: "mention-search", id: this.#id, query });
  }

  receive({ id, items, isComplete }: Extract<HostMessage, { type: "mentions" }>): void {
    if (id !== this.#id || this.#query === undefined) return;
    this.#found.value = { query: this.#query, items, isComplete };
  }

  /** The list is closed: later answers are dropped. */
  close(): void {
    this.#query = undefined;
    this.#found.value = undefined;
  }
}
