/** Type of a picture from its first bytes: the names and types that files and servers declare are often wrong. */

/** First bytes of the formats that all providers accept, as Latin-1. */
const FORMATS: readonly (readonly [mimeType: string, start: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
  ["image/jpeg", /^\xff\xd8\xff/],
];
/** Base64 of the bytes that tell the formats apart. Characters. */
const START_CHARS = 24;

/** Undefined for a format that not all providers accept. */
export function imageType(bytes: Buffer): string | undefined {
  const start = bytes.toString("latin1", 0, 12);
  return FORMATS.find(([, pattern]) => pattern.test(start))?.[0];
}

export function imageTypeOfBase64(data: string): string | undefined {
  return imageType(Buffer.from(data.slice(0, START_CHARS), "base64"));
}
