/** Scales a PNG or JPEG down. Decoding takes seconds, so it runs in the thread that reads documents. */
import { inflateSync } from "node:zlib";
import type { DecodedPng } from "fast-png";
import { messageOf } from "../platform/errors.ts";

export type ScaledPicture =
  /** A JPEG. */
  | { readonly ok: true; readonly bytes: Uint8Array; readonly width: number; readonly height: number }
  /** One sentence. */
  | { readonly ok: false; readonly text: string };

/** A picture of this size takes 200 MB. */
const MAX_PIXELS = 50_000_000;
const MAX_DECODER_MB = 1_000;
/** Small letters of a screenshot stay readable. Percent. */
const QUALITY = 90;

/** Values of one pixel after the other: grey, or red, green and blue; then opacity when the number of channels is even. */
type Pixels = {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly data: ArrayLike<number>;
  /** Largest value. */
  readonly white: number;
};

/** `longerSide`: of the result, in pixels. A transparent picture gets a white ground. */
export async function scalePicture(bytes: Uint8Array, longerSide: number): Promise<ScaledPicture> {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const isPng = buffer.readUInt8(0) === 0x89;
    const pixels = isPng ? await readPng(buffer) : await readJpeg(buffer);
    const scale = Math.min(1, longerSide / Math.max(pixels.width, pixels.height));
    const [width = 1, height = 1] = [pixels.width, pixels.height].map((side) => Math.max(1, Math.round(side * scale)));
    const { encode } = (await import("jpeg-js")).default;
    const { data } = encode({ width, height, data: scaled(pixels, width, height) }, QUALITY);
    return { ok: true, bytes: data, width, height };
  } catch (error) {
    return { ok: false, text: messageOf(error) };
  }
}

async function readJpeg(bytes: Buffer): Promise<Pixels> {
  const { decode } = (await import("jpeg-js")).default;
  const options = { useTArray: true, maxResolutionInMP: MAX_PIXELS / 1e6, maxMemoryUsageInMB: MAX_DECODER_MB } as const;
  return { ...decode(bytes, options), channels: 4, white: 255 };
}

async function readPng(bytes: Buffer): Promise<Pixels> {
  const { decode, convertIndexedToRgb } = await import("fast-png");
  const png: DecodedPng = decode(checkedPng(bytes));
  const { width, height, depth, channels, palette } = png;
  if (palette !== undefined) {
    const channels = palette[0]?.length ?? 3;
    return { width, height, channels, data: convertIndexedToRgb(png), white: 255 };
  }
  if (depth < 8) throw new Error(`it has ${depth} bits per pixel`);
  return { width, height, channels, data: png.data, white: 2 ** depth - 1 };
}

/** Chunks that hold the pixels. Others may be packed bombs, too. */
const PIXEL_CHUNKS = new Set(["IHDR", "PLTE", "tRNS", "IDAT", "IEND"]);
/** Channels by the colour type of a PNG. */
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** The same picture without chunks that are not needed. Throws when it is too large, or its data longer than its size says. */
function checkedPng(bytes: Buffer): Buffer {
  const [width, height, depth] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20), bytes.readUInt8(24)];
  if (width * height > MAX_PIXELS) throw new Error(`it has more than ${MAX_PIXELS / 1e6} million pixels`);
  const kept: Buffer[] = [bytes.subarray(0, 8)];
  const packed: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (PIXEL_CHUNKS.has(type)) kept.push(bytes.subarray(at, end));
    if (type === "IDAT") packed.push(bytes.subarray(at + 8, end - 4));
    at = end;
  }
  const bits = depth * (CHANNELS[bytes.readUInt8(25)] ?? 4);
  // Each of the seven passes of an interlaced picture has rows of its own.
  const maxOutputLength = height * (Math.ceil((width * bits) / 8) + 8) * 2;
  inflateSync(Buffer.concat(packed), { maxOutputLength });
  return Buffer.concat(kept);
}

/** Red, green, blue and opacity of each pixel: the mean of those that it replaces. */
function scaled(pixels: Pixels, width: number, height: number): Uint8Array {
  const sums = new Float64Array(width * height * 3);
  const counts = new Uint32Array(width * height);
  for (let y = 0; y < pixels.height; y += 1) {
    const row = Math.floor((y * height) / pixels.height) * width;
    for (let x = 0; x < pixels.width; x += 1) {
      const to = row + Math.floor((x * width) / pixels.width);
      addPixel(pixels, (y * pixels.width + x) * pixels.channels, sums, to * 3);
      counts[to] = (counts[to] ?? 0) + 1;
    }
  }
  const out = new Uint8Array(width * height * 4).fill(255);
  for (let at = 0; at < counts.length; at += 1) {
    const count = counts[at] ?? 1;
    for (let colour = 0; colour < 3; colour += 1) out[at * 4 + colour] = (sums[at * 3 + colour] ?? 0) / count;
  }
  return out;
}

function addPixel({ data, channels, white }: Pixels, from: number, sums: Float64Array, to: number): void {
  const opacity = channels % 2 === 0 ? (data[from + channels - 1] ?? 0) / white : 1;
  for (let colour = 0; colour < 3; colour += 1) {
    const value = ((data[channels > 2 ? from + colour : from] ?? 0) / white) * 255;
    sums[to + colour] = (sums[to + colour] ?? 0) + value * opacity + 255 * (1 - opacity);
  }
}
