/** Type of a picture from its first bytes: the names and types that files and servers declare are often wrong. */

/** First bytes of the formats that all providers accept, in hexadecimal. */
const FORMATS: readonly (readonly [mimeType: string, start: RegExp])[] = [
  ["image/png", /^89504e470d0a1a0a/],
  ["image/gif", /^47494638(?:37|39)61/],
  ["image/webp", /^52494646.{8}57454250/],
  ["image/jpeg", /^ffd8ff/],
];
/** Base64 of the bytes that tell the formats apart. Characters. */
const START_CHARS = 24;

/** Undefined for a format that not all providers accept. */
export function imageType(bytes: Buffer): string | undefined {
  const start = bytes.toString("hex", 0, 12);
  return FORMATS.find(([, pattern]) => pattern.test(start))?.[0];
}

export function imageTypeOfBase64(data: string): string | undefined {
  return imageType(Buffer.from(data.slice(0, START_CHARS), "base64"));
}
