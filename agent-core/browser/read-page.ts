/** Content of a page for the model and for people: snapshots, pictures, and the list of its images. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import { writeSpillFile } from "../sessions/session-files.ts";
import type { Page } from "./page.ts";
import { CAPTURED_STYLES, type Capture } from "./page-document.ts";
import { snapshotLines, type View } from "./snapshot-lines.ts";

/** Length of a whole snapshot, and of the part in view after an action. Characters. */
const SNAPSHOT_CHARS = 15_000;
const VIEW_CHARS = 4_000;
/** A larger page is shown as plain text: capturing it would take minutes. Elements. */
const MAX_ELEMENTS = 100_000;
/** Time for the capture of a large page. Milliseconds. */
const CAPTURE_MS = 30_000;
/** Time for a picture of the page. Milliseconds. */
const PICTURE_MS = 5_000;
/** Pictures that one result lists. */
const MAX_IMAGES = 100;

export type Picture = { readonly mimeType: string; readonly data: string };

export type SnapshotKind =
  /** The part in view. */
  | "view"
  /** The whole page. A part that is too long is stored in a file of `folder`. */
  | "page"
  /** Only elements with refs, and headings, of the whole page. */
  | "compact";

/** Title and elements of the page as text. `folder`: absolute, for a long snapshot. */
export async function readPage(page: Page, kind: SnapshotKind, folder: string): Promise<string> {
  const { title, elements, position } = await factsOf(page);
  const head = title === "" ? "" : `Title: ${title}\n`;
  if (elements > MAX_ELEMENTS) return `${head}${await plainText(page, `The page has ${elements} elements`)}`;
  try {
    const capture = await page.send(
      "DOMSnapshot.captureSnapshot",
      { computedStyles: [...CAPTURED_STYLES] },
      CAPTURE_MS,
    );
    return `${head}${await snapshotText({ page, capture, kind, folder, position })}`;
  } catch (error) {
    if (!/too large/.test(messageOf(error))) throw error;
    return `${head}${await plainText(page, "The page is too large")}`;
  }
}

type Position = View & { readonly height: number; readonly scale: number };

const factsSchema = z.object({ title: z.string().catch(""), elements: z.number().catch(0) });

async function factsOf(page: Page) {
  const expression = `({ title: document.title, elements: document.getElementsByTagName("*").length })`;
  const [facts, { cssVisualViewport: view, cssContentSize: size, contentSize }] = await Promise.all([
    page.send("Runtime.evaluate", { expression, returnByValue: true }),
    page.send("Page.getLayoutMetrics"),
  ]);
  const { title, elements } = factsSchema.catch({ title: "", elements: 0 }).parse(facts.result.value);
  const position: Position = {
    top: view.pageY,
    bottom: view.pageY + view.clientHeight,
    height: size.height,
    scale: size.width === 0 ? 1 : contentSize.width / size.width,
  };
  return { title: oneLine(title, 200), elements, position };
}

async function snapshotText(read: {
  readonly page: Page;
  readonly capture: Capture;
  readonly kind: SnapshotKind;
  readonly folder: string;
  readonly position: Position;
}): Promise<string> {
  const { page, capture, kind, folder, position } = read;
  const { top, bottom, height, scale } = position;
  const lines = snapshotLines(capture, {
    refOf: (backendId) => page.refOf(backendId),
    compact: kind === "compact",
    addresses: kind === "page",
    view: kind === "view" ? { top: top * scale, bottom: bottom * scale } : undefined,
  });
  const isScrollable = height > bottom - top + 1;
  const place = isScrollable
    ? `View: ${Math.round(top)}–${Math.round(bottom)} of ${Math.round(height)} px${kind === "view" ? "; browser_snapshot shows the whole page" : ""}.\n`
    : "";
  const limit = kind === "view" ? VIEW_CHARS : SNAPSHOT_CHARS;
  const text = lines.length === 0 ? "(The page is empty.)" : lines.join("\n");
  if (text.length <= limit) return `${place}${text}`;
  const shown = text.slice(0, text.lastIndexOf("\n", limit));
  const left = lines.length - shown.split("\n").length;
  if (kind === "view") return `${place}${shown}\n[… ${left} more lines: browser_snapshot shows them]`;
  return `${place}${shown}\n[… ${left} more lines. ${await stored(text, folder)}]`;
}

async function stored(text: string, folder: string): Promise<string> {
  const path = join(folder, `browser-snapshot-${randomUUID().slice(0, 8)}.txt`);
  return writeSpillFile(path, text).then(
    () => `The whole snapshot (${text.length} characters) is in ${path}; its refs are valid.`,
    (error: unknown) => `The whole snapshot could not be stored: ${messageOf(error)}.`,
  );
}

async function plainText(page: Page, reason: string): Promise<string> {
  const expression = `document.body?.innerText.slice(0, ${SNAPSHOT_CHARS})`;
  const { result } = await page.send("Runtime.evaluate", { expression, returnByValue: true });
  return `${reason}, so only the start of its text is shown, without refs:\n${String(result.value ?? "").slice(0, SNAPSHOT_CHARS)}`;
}

/** Small picture of the page in view, for people. Undefined when the page gives none in time. */
export async function smallPicture(page: Page): Promise<Picture | undefined> {
  try {
    const { cssVisualViewport: view } = await page.send("Page.getLayoutMetrics");
    const clip = { x: view.pageX, y: view.pageY, width: view.clientWidth, height: view.clientHeight, scale: 0.5 };
    return await capturedPicture(page, { quality: 50, clip });
  } catch {
    return undefined; // the next action reports a page that does not respond
  }
}

/** Picture of the page in view, for models. */
export function largePicture(page: Page): Promise<Picture> {
  return capturedPicture(page, { quality: 75 });
}

async function capturedPicture(
  page: Page,
  options: {
    readonly quality: number;
    readonly clip?: { x: number; y: number; width: number; height: number; scale: number };
  },
): Promise<Picture> {
  const { data } = await page.send("Page.captureScreenshot", { format: "jpeg", ...options }, PICTURE_MS);
  return { mimeType: "image/jpeg", data };
}

const imagesSchema = z.array(z.object({ src: z.string(), alt: z.string(), width: z.number(), height: z.number() }));

/** Images of the page with address, description and size. */
export async function listImages(page: Page): Promise<string> {
  const expression = `[...document.images].slice(0, 1000).map((image) => ({
    src: image.currentSrc || image.src, alt: image.alt, width: image.naturalWidth, height: image.naturalHeight,
  })).filter((image) => image.src !== "").map((image) => ({ ...image, src: image.src.slice(0, 500) }))`;
  const { result } = await page.send("Runtime.evaluate", { expression, returnByValue: true });
  const images = imagesSchema.catch([]).parse(result.value);
  if (images.length === 0) return "The page has no images.";
  const lines = images.slice(0, MAX_IMAGES).map(({ src, alt, width, height }) => {
    const address = src.startsWith("data:") ? `${src.slice(0, 30)}… (in the page itself)` : src;
    return `- ${address} ${width}×${height}${alt === "" ? "" : ` ${JSON.stringify(oneLine(alt, 200))}`}`;
  });
  const more = images.length > MAX_IMAGES ? [`[… ${images.length - MAX_IMAGES} more]`] : [];
  return [...lines, ...more].join("\n");
}
