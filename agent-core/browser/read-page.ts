/** Content of a page for the model and for people: snapshots, pictures, and the list of its images. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import { writeSpillFile } from "../sessions/session-files.ts";
import type { Page } from "./page.ts";
import { pageNode, snapshotLines } from "./snapshot.ts";

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
  const facts = await factsOf(page);
  const head = facts.title === "" ? "" : `Title: ${facts.title}\n`;
  if (facts.elements > MAX_ELEMENTS)
    return `${head}${await plainText(page, `The page has ${facts.elements} elements`)}`;
  return `${head}${await snapshotText(page, { kind, folder, facts })}`;
}

const factsSchema = z.object({
  title: z.string().transform((title) => oneLine(title, 200)),
  elements: z.number(),
  top: z.number(),
  view: z.number(),
  height: z.number(),
});
type Facts = z.infer<typeof factsSchema>;

const FACTS = `({
  title: document.title, elements: document.getElementsByTagName("*").length,
  top: scrollY, view: innerHeight, height: document.documentElement.scrollHeight,
})`;

async function factsOf(page: Page): Promise<Facts> {
  return factsSchema.parse(await page.ask(page.driver.evaluate(FACTS)));
}

type Reading = { readonly kind: SnapshotKind; readonly folder: string; readonly facts: Facts };

async function snapshotText(page: Page, { kind, folder, facts: { top, view, height } }: Reading): Promise<string> {
  const [tree, passwords] = [await treeOf(page, kind), await passwordsOf(page)];
  const lines = snapshotLines(tree, {
    refOf: (driverRef) => page.refOf(driverRef),
    compact: kind === "compact",
    addresses: kind === "page",
    viewHeight: kind === "view" ? view : undefined,
    passwords,
  });
  const isScrollable = height > view + 1;
  const place = isScrollable
    ? `View: ${Math.round(top)}–${Math.round(top + view)} of ${Math.round(height)} px${kind === "view" ? "; browser_snapshot shows the whole page" : ""}.\n`
    : "";
  const limit = kind === "view" ? VIEW_CHARS : SNAPSHOT_CHARS;
  const text = lines.length === 0 ? "(The page is empty.)" : lines.join("\n");
  if (text.length <= limit) return `${place}${text}`;
  const shown = text.slice(0, text.lastIndexOf("\n", limit));
  const left = lines.length - shown.split("\n").length;
  if (kind === "view") return `${place}${shown}\n[… ${left} more lines: browser_snapshot shows them]`;
  return `${place}${shown}\n[… ${left} more lines. ${await stored(text, folder)}]`;
}

const treeSchema = z.array(z.union([z.string(), pageNode]));

async function treeOf(page: Page, kind: SnapshotKind): Promise<z.infer<typeof treeSchema>> {
  const reading = page.driver.ariaSnapshotJSON({ mode: "ai", boxes: kind === "view", timeout: CAPTURE_MS });
  return treeSchema.parse(await page.ask(reading, CAPTURE_MS));
}

/** Texts of the password fields of all frames. */
async function passwordsOf(page: Page): Promise<ReadonlySet<string>> {
  const fields = page.driver
    .frames()
    .map((frame) =>
      frame
        .locator("input[type=password]")
        .evaluateAll((all: readonly { readonly value: string }[]) => all.map(({ value }) => value)),
    );
  const found = await page.ask(Promise.allSettled(fields)); // a frame may leave the page meanwhile
  return new Set(found.flatMap((result) => (result.status === "fulfilled" ? result.value : [])).filter(Boolean));
}

async function stored(text: string, folder: string): Promise<string> {
  const path = join(folder, `browser-snapshot-${randomUUID().slice(0, 8)}.txt`);
  return writeSpillFile(path, text).then(
    () => `The whole snapshot (${text.length} characters) is in ${path}; its refs are valid.`,
    (error: unknown) => `The whole snapshot could not be stored: ${messageOf(error)}.`,
  );
}

async function plainText(page: Page, reason: string): Promise<string> {
  const text = await page.ask(page.driver.evaluate(`document.body?.innerText.slice(0, ${SNAPSHOT_CHARS}) ?? ""`));
  return `${reason}, so only the start of its text is shown, without refs:\n${String(text)}`;
}

/** Small picture of the page in view, for people. Undefined when the page gives none in time. */
export async function smallPicture(page: Page): Promise<Picture | undefined> {
  try {
    const devtools = await page.devtools();
    const { cssVisualViewport: view } = await page.ask(devtools.send("Page.getLayoutMetrics"));
    const clip = { x: view.pageX, y: view.pageY, width: view.clientWidth, height: view.clientHeight, scale: 0.5 };
    const taking = devtools.send("Page.captureScreenshot", { format: "jpeg", quality: 50, clip });
    const { data } = await page.ask(taking, PICTURE_MS);
    return { mimeType: "image/jpeg", data };
  } catch {
    return undefined; // the next action reports a page that does not respond
  }
}

/** Picture of the page in view, for models. */
export async function largePicture(page: Page): Promise<Picture> {
  const picture = await page.ask(page.driver.screenshot({ type: "jpeg", quality: 75, timeout: PICTURE_MS }));
  return { mimeType: "image/jpeg", data: picture.toString("base64") };
}

const imagesSchema = z.array(z.object({ src: z.string(), alt: z.string(), width: z.number(), height: z.number() }));

/** Images of the page with address, description and size. */
export async function listImages(page: Page): Promise<string> {
  const expression = `[...document.images].slice(0, 1000).map((image) => ({
    src: image.currentSrc || image.src, alt: image.alt, width: image.naturalWidth, height: image.naturalHeight,
  })).filter((image) => image.src !== "").map((image) => ({ ...image, src: image.src.slice(0, 500) }))`;
  const images = imagesSchema.parse(await page.ask(page.driver.evaluate(expression)));
  if (images.length === 0) return "The page has no images.";
  const lines = images.slice(0, MAX_IMAGES).map(({ src, alt, width, height }) => {
    const address = src.startsWith("data:") ? `${src.slice(0, 30)}… (in the page itself)` : src;
    return `- ${address} ${width}×${height}${alt === "" ? "" : ` ${JSON.stringify(oneLine(alt, 200))}`}`;
  });
  const more = images.length > MAX_IMAGES ? [`[… ${images.length - MAX_IMAGES} more]`] : [];
  return [...lines, ...more].join("\n");
}
