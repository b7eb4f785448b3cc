/** Type and size of a picture, from its first bytes, and the limits that all providers accept. */
import { imageType } from "../messages/image-type.ts";
import type { ContentPart, ImagePart } from "../messages/message.ts";
import { invalidParams } from "../protocol/handle.ts";
import { readScaled } from "./reader-thread.ts";
import type { Picture } from "./web-access.ts";

export type CheckedPicture =
  | {
      readonly ok: true;
      readonly picture: Picture;
      readonly width: number;
      readonly height: number;
      /** Size before it was scaled down: `9000 × 4000 pixels`. */
      readonly scaledFrom?: string;
    }
  /** One sentence. `isTooLarge`: it would be accepted if it were smaller. */
  | { readonly ok: false; readonly text: string; readonly isTooLarge?: true };

/** Anthropic refuses longer sides. Providers scale a picture down themselves, to 1,568 pixels or less. */
const MAX_SIDE = 8_000;
/** Anthropic's limit in a request with more than 20 pictures, which a conversation may become. */
const MAX_SIDE_OF_MANY = 2_000;
/** The smallest limit of a provider for base64 is 5 MB, which are 3.75 MB of bytes. */
const MAX_BYTES = 3_750_000;
/** Size that loses nothing for a model. Pixels. */
const GOOD_SIDE = 1_568;

/** Formats that can be scaled down. */
const SCALED = new Set(["image/png", "image/jpeg"]);

type Size = readonly [width: number, height: number];

const sizes: Readonly<Record<string, (bytes: Buffer) => Size | undefined>> = {
  "image/png": (bytes) => (bytes.length < 24 ? undefined : [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]),
  "image/gif": (bytes) => (bytes.length < 10 ? undefined : [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]),
  "image/webp": sizeOfWebp,
  "image/jpeg": sizeOfJpeg,
};

/** As `checkPicture`, but a PNG or JPEG that is too large is scaled down. Rejects only with the reason of `signal`. */
export async function fitPicture(bytes: Buffer, name: string, signal: AbortSignal): Promise<CheckedPicture> {
  const checked = checkPicture(bytes, name);
  if (checked.ok || checked.isTooLarge === undefined) return checked;
  const mimeType = imageType(bytes) ?? "";
  if (!SCALED.has(mimeType)) {
    return { ...checked, text: `${checked.text}, or save it as PNG or JPEG, which Hermes scales itself` };
  }
  const scaled = await readScaled(bytes, GOOD_SIDE, signal);
  if (!scaled.ok) return { ok: false, text: `${checked.text} (it could not be scaled here: ${scaled.text})` };
  const picture = { mimeType: "image/jpeg", data: Buffer.from(scaled.bytes).toString("base64") };
  const scaledFrom = `${(sizes[mimeType]?.(bytes) ?? []).join(" × ")} pixels`;
  return { ok: true, picture, width: scaled.width, height: scaled.height, scaledFrom };
}

/**
 * The parts with pictures that all providers accept: larger ones are scaled down, and types are those of the bytes. Throws
 * the protocol's error for one that cannot be scaled, and rejects with the signal's reason.
 */
export function fitPictures(parts: readonly ContentPart[], signal: AbortSignal): Promise<ContentPart[]> {
  return Promise.all(parts.map((part) => (part.type === "image_url" ? fitPart(part, signal) : part)));
}

async function fitPart(part: ImagePart, signal: AbortSignal): Promise<ImagePart> {
  const bytes = Buffer.from(part.image_url.url.replace(/^[^,]*,/, ""), "base64");
  const checked = checkPicture(bytes, "the picture");
  // The request leaves a picture of another format out (wire/sent-images.ts). A provider may read a damaged one.
  if (!checked.ok && checked.isTooLarge === undefined) return part;
  const fitted = checked.ok ? checked : await fitPicture(bytes, "the picture", signal);
  if (!fitted.ok) throw invalidParams("prompt", fitted.text);
  const { mimeType, data } = fitted.picture;
  return { ...part, image_url: { url: `data:${mimeType};base64,${data}` } };
}

/** `name`: path or address of the picture, for the sentence. */
export function checkPicture(bytes: Buffer, name: string): CheckedPicture {
  if (bytes.length === 0) return { ok: false, text: `${name} is empty` };
  const mimeType = imageType(bytes);
  if (mimeType === undefined) return { ok: false, text: `${name} is no PNG, JPEG, WebP or GIF picture` };
  const [width = 0, height = 0] = sizes[mimeType]?.(bytes) ?? [];
  if (width === 0 || height === 0) return { ok: false, text: `${name} is a damaged picture: it declares no size` };
  const longest = SCALED.has(mimeType) ? MAX_SIDE_OF_MANY : MAX_SIDE;
  if (width > longest || height > longest) return tooLarge(name, `${width} × ${height} pixels`);
  if (bytes.length > MAX_BYTES) return tooLarge(name, `${(bytes.length / 1_000_000).toFixed(1)} MB`);
  return { ok: true, picture: { mimeType, data: bytes.toString("base64") }, width, height };
}

function tooLarge(name: string, size: string): CheckedPicture {
  const advice = `scale its longer side to ${GOOD_SIDE} pixels first, for example with ImageMagick, sips or Pillow`;
  return { ok: false, text: `${name} is too large (${size}): ${advice}`, isTooLarge: true };
}

/** The three kinds of WebP: lossy, lossless and extended. */
function sizeOfWebp(bytes: Buffer): Size | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case "VP8X":
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    default:
      return undefined;
  }
}

/** The size is in the frame's segment, behind segments of other kinds. */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const kind = bytes.readUInt8(at + 1);
    const isFrame = kind >= 0xc0 && kind <= 0xcf && kind !== 0xc4 && kind !== 0xc8 && kind !== 0xcc;
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += kind === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
