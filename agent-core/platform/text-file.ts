/** Text of files that people write with any editor: UTF-8 or UTF-16, with or without a byte order mark. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { attempt } from "./errors.ts";

/** Encodings of UTF-16 by their byte order marks, in hexadecimal. PowerShell writes the first one. */
const MARKS: Readonly<Record<string, string>> = { fffe: "utf-16le", feff: "utf-16be" };

/** Text without its byte order mark; undefined for bytes that are no text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const text = attempt(() => decoderOf(bytes, true).decode(bytes));
  return text?.includes("\0") ? undefined : text;
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

function decoderOf(bytes: Uint8Array, fatal: boolean) {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString("hex");
  return new TextDecoder(MARKS[mark] ?? "utf-8", { fatal });
}
