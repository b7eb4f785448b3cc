import * as z from "zod";
import { readBytes } from "../host/node-files.ts";
import { wrapData } from "../prompt/injection-scan.ts";
import type { CheckedPicture } from "../web/picture.ts";
import { absolutePath, shortTitle } from "./resolve-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

/** A larger file is no picture that a model takes. Bytes. */
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
  description: "Look at a PNG, JPEG, WebP or GIF picture and answer a question about it.",
  input,
  title: ({ image }) => shortTitle(`Look at ${image}`),
  locations: ({ image }, cwd) => (isUrl(image) ? [] : [{ path: absolutePath(image, cwd) }]),
  effect: ({ image }, cwd) =>
    isUrl(image)
      ? { kind: "fetch", sent: [image], places: [URL.canParse(image) ? new URL(image).host : image] }
      : { kind: "read", paths: [absolutePath(image, cwd)] },
  run,
});

/** A model that sees gets the picture itself; another one gets the answer of `auxiliary.vision`. */
async function run({ image, question }: z.infer<typeof input>, context: ToolContext): Promise<ToolResult> {
  const { web, signal } = context;
  const isSeen = web?.sees?.() === true;
  if (!isSeen && web?.look === undefined) {
    const advice = "The user can set auxiliary.vision in config.yaml, or choose a model that sees.";
    return { ok: false, text: `vision_analyze: this model cannot see pictures. ${advice}` };
  }
  const checked = isUrl(image) ? await fetchPicture(image, context) : await readPicture(image, context);
  if (!checked.ok) return { ok: false, text: `vision_analyze: ${checked.text}.` };
  const { picture, width, height } = checked;
  const images = [picture];
  const size = `${picture.mimeType}, ${width} × ${height} pixels`;
  if (isSeen) return { ok: true, text: `The picture (${size}) follows. Answer from it: ${question}`, images };
  const answer = await web?.look?.(picture, question, signal);
  if (!answer?.ok) return { ok: false, text: `vision_analyze: ${answer?.text ?? "no model can see pictures"}.` };
  const { mimeType, data } = picture;
  return { ok: true, text: wrapData("picture", image, answer.text), media: [{ kind: "image", mimeType, data }] };
}

async function fetchPicture(address: string, { web, signal }: ToolContext): Promise<CheckedPicture> {
  const [{ guardedFetch }, { addressGuard }, { checkPicture }] = await Promise.all([
    import("../web/guarded-fetch.ts"),
    import("../web/address-guard.ts"),
    import("../web/picture.ts"),
  ]);
  const fetched = await guardedFetch(address, {
    guard: addressGuard(web?.allowsPrivate ?? false),
    signal,
    accept: "image/*",
  });
  if (!fetched.ok) return { ok: false, text: fetched.text.replace(/\.$/, "") };
  return checkPicture(fetched.bytes, fetched.url);
}

async function readPicture(image: string, { cwd, signal }: ToolContext): Promise<CheckedPicture> {
  const { checkPicture } = await import("../web/picture.ts");
  const read = await readBytes(absolutePath(image, cwd), MAX_FILE_BYTES, signal);
  return read.ok ? checkPicture(read.bytes, image) : { ok: false, text: read.message.replace(/\.$/, "") };
}

function isUrl(image: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(image);
}
