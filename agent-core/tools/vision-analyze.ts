import * as z from "zod";
import { readBytes } from "../host/node-files.ts";
import type { CheckedPicture } from "../web/picture.ts";
import { refuseWithoutVision, showPicture } from "./show-picture.ts";
import { absolutePath, shortTitle } from "./shown-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";
import { fetchAddress, fetchEffect } from "./web-address.ts";

/** A larger file is not a picture that a model takes. Bytes. */
const MAX_FILE_BYTES = 20_000_000;

const input = z.object({
  image: z.string().trim().min(1).max(4_000).describe("Path or https URL"),
  question: z.string().trim().min(1).max(4_000),
});

export const tool = defineTool({
  name: "vision_analyze",
  toolset: "vision",
  kind: "read",
  readOnly: true,
  need: "rare",
  description: "Look at a PNG, JPEG, WebP or GIF picture and answer a question about it.",
  input,
  title: ({ image }) => shortTitle(`Look at ${image}`),
  locations: ({ image }, cwd) => (isUrl(image) ? [] : [{ path: absolutePath(image, cwd) }]),
  effect: ({ image }, cwd) =>
    isUrl(image) ? fetchEffect([image]) : { kind: "read", paths: [absolutePath(image, cwd)] },
  run,
});

async function run({ image, question }: z.infer<typeof input>, context: ToolContext): Promise<ToolResult> {
  const tool = "vision_analyze";
  const advice =
    "The user can set auxiliary.vision in config.yaml (or model.supports_vision: true, if this model accepts pictures), or choose another model.";
  const blind = refuseWithoutVision(tool, context, advice);
  if (blind !== undefined) return blind;
  const checked = isUrl(image) ? await fetchPicture(image, context) : await readPicture(image, context);
  if (!checked.ok) return { ok: false, text: `${tool}: ${checked.text}.` };
  const { picture, width, height, scaledFrom } = checked;
  const scaled = scaledFrom === undefined ? "" : `, scaled down from ${scaledFrom}`;
  const seen = `The picture (${picture.mimeType}, ${width} × ${height} pixels${scaled}) follows. Answer from it: ${question}`;
  const looked = await showPicture(picture, { tool, seen, question, source: ["picture", image] }, context);
  return looked.ok && looked.images === undefined ? { ...looked, media: [{ kind: "image", ...picture }] } : looked;
}

async function fetchPicture(address: string, context: ToolContext): Promise<CheckedPicture> {
  const { fitPicture } = await import("../web/picture.ts");
  const fetched = await fetchAddress(address, context, "image/*");
  if (!fetched.ok) return { ok: false, text: fetched.text.replace(/\.$/, "") };
  return fitPicture(fetched.bytes, fetched.url, context.signal);
}

async function readPicture(image: string, { cwd, signal }: ToolContext): Promise<CheckedPicture> {
  const { fitPicture } = await import("../web/picture.ts");
  const read = await readBytes(absolutePath(image, cwd), MAX_FILE_BYTES, signal);
  return read.ok ? fitPicture(read.bytes, image, signal) : { ok: false, text: read.message.replace(/\.$/, "") };
}

function isUrl(image: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(image);
}
