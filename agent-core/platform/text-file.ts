/** Text of files that people write with any editor: UTF-8 or UTF-16, with or without a byte order mark. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathBelow } from "./paths.ts";

/** Encodings of UTF-16 by their byte order marks, in hexadecimal. PowerShell writes the first one. */
const MARKS: Readonly<Record<string, string>> = { fffe: "utf-16le", feff: "utf-16be" };

/** Text without its byte order mark; undefined for bytes that are no text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = decoderOf(bytes, true).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Text without its byte order mark; U+FFFD stands for bytes that are no text. */
export function textOf(bytes: Uint8Array): string {
  return decoderOf(bytes, false).decode(bytes);
}

/** Rejects as `readFile`. */
export async function readText(path: string): Promise<string> {
  return textOf(await readFile(path));
}

/** Throws as `readFileSync`. */
export function readTextSync(path: string): string {
  return textOf(readFileSync(path));
}

/** Longer files are not read for a citation. Characters. */
const MAX_CITED = 1_000_000;

/** Text that cites `path` below the folder; undefined for a file outside, and for one that cannot be read or is too long. */
export async function readCited(folder: string, path: string): Promise<string | undefined> {
  const file = join(folder, path);
  if (pathBelow(folder, file) === undefined) return undefined;
  const text = await readText(file).catch(() => undefined);
  return text !== undefined && text.length <= MAX_CITED ? text : undefined;
}

function decoderOf(bytes: Uint8Array, fatal: boolean) {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  return new TextDecoder(MARKS[mark] ?? "utf-8", { fatal });
}
