/** Reads a text file without its byte order mark: UTF-8, or the encoding that its bytes show. Failures of file operations. */
import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { attempt, codeOf, hasCode, messageOf } from "../platform/errors.ts";
import type { FileFailure } from "./host.ts";

/** Larger files must be searched, or read by a command. Bytes. */
const MAX_FILE_BYTES = 50_000_000;
const SMALL_FILE_BYTES = 65_536;
/** A NUL in this part means that the file is binary, as in git. */
const BINARY_PROBE_BYTES = 8_000;

/** Mark of UTF-8. */
export const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The same mark in a decoded text. */
const MARK = "\ufeff";

/** A text without the byte order mark before it, which is a part of the file's encoding. */
export function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

/** A text with one byte order mark before it. */
export function withMark(text: string): string {
  return MARK + withoutMark(text);
}

/** `hasMark`: a byte order mark precedes the text. `encoding`: absent for UTF-8. */
export type DecodedFile = {
  readonly ok: true;
  readonly text: string;
  readonly hasMark: boolean;
  readonly encoding?: string;
};

export async function readDecoded(path: string, signal: AbortSignal): Promise<DecodedFile | FileFailure> {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return failure("directory", `${path} is a folder, not a file.`);
    // Opening a pipe or a device can block forever.
    if (!found.isFile()) return failure("binary", `${path} is not a regular file (a device, pipe or socket).`);
    if (found.size > MAX_FILE_BYTES) {
      const size = `${Math.round(found.size / 1_000_000)} MB`;
      return failure(
        "too-large",
        `${path} has ${size}; at most ${MAX_FILE_BYTES / 1_000_000} MB can be read at once. Search it, or read a part of it with a command.`,
      );
    }
    // Each asynchronous step takes ten times as long as a small file, through the thread pool.
    const isSmall = found.size > 0 && found.size <= SMALL_FILE_BYTES;
    return await decodeAny(path, isSmall ? readFileSync(path) : await readFile(path, { signal }));
  } catch (error) {
    signal.throwIfAborted();
    return systemFailure(path, error, "read");
  }
}

/** `path` is for messages. */
export async function decodeAny(path: string, bytes: Buffer): Promise<DecodedFile | FileFailure> {
  const hasZeros = bytes.subarray(0, BINARY_PROBE_BYTES).includes(0);
  // ISO-2022-JP would pass for UTF-8, with escapes in place of its letters.
  const decoded = hasZeros || bytes.includes("\x1b$B") ? undefined : decodeUtf8(bytes);
  // Lines that end with CR alone are another encoding here.
  if (decoded !== undefined && (decoded.text.includes("\n") || !decoded.text.includes("\r"))) return decoded;
  // Few projects have such files, and the tables of all encodings take a tenth of a second to load.
  const { decodeOther } = await import("./other-encodings.ts");
  const other = decodeOther(bytes) ?? decoded;
  if (other !== undefined) return { ok: true, ...other };
  if (hasZeros) return failure("binary", `${path} is a binary file (${bytes.length} bytes).`);
  return failure("encoding", `${path} is no text in a known encoding, so an edit could damage it.`);
}

function decodeUtf8(bytes: Buffer): DecodedFile | undefined {
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const text = attempt(() => decoder.decode(hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes));
  return text === undefined ? undefined : { ok: true, text, hasMark };
}

/** The bytes of a text in the encoding of a file. Rejects with an Error when it has characters that the encoding lacks. */
export async function encodeAs(text: string, { hasMark, encoding }: EncodingOf): Promise<Buffer> {
  if (encoding === undefined) return Buffer.from(hasMark === true ? withMark(text) : text);
  const { encodeOther } = await import("./other-encodings.ts");
  return encodeOther(text, encoding, hasMark === true);
}

export type EncodingOf = { readonly hasMark?: boolean; readonly encoding?: string };

const REASONS: Readonly<Record<string, FileFailure["reason"]>> = {
  ENOENT: "missing",
  ENOTDIR: "missing",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
};

/** `action` ends the sentence "… cannot be". */
export function systemFailure(
  path: string,
  error: unknown,
  action: "read" | "written" | "removed" | "moved",
): FileFailure {
  const reason = REASONS[codeOf(error) ?? ""] ?? "failed";
  if (reason === "missing") return failure(reason, `${path} does not exist.`);
  if (hasCode(error, "EROFS")) {
    return failure("denied", `${path} cannot be ${action}: it is on a read-only file system.`);
  }
  if (reason === "denied") return failure(reason, `${path} cannot be ${action}: permission denied.`);
  return failure(reason, `${path} cannot be ${action}: ${messageOf(error)}`);
}

/** `message` is one sentence for the model, naming the path. */
export function failure(reason: FileFailure["reason"], message: string): FileFailure {
  return { ok: false, reason, message };
}
