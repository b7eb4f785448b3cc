/** Reads a command's output file. */
import { type FileHandle, open } from "node:fs/promises";
import { fallbackOutputFile } from "../../platform/children/output-flow.ts";
import { hasCode } from "../../platform/errors.ts";
import type { CommandOutput, OutputPart } from "./terminals.ts";

/** Parts of a long output that a reader gets. Bytes. */
const HEAD_BYTES = 20_000;
const TAIL_BYTES = 30_000;
/** A UTF-8 sequence has at most three bytes after its first. */
const CONTINUATION_BYTES = 3;

/** An output file is made before its command starts: without one, no disk took the output. */
const NOT_STORED =
  "[The output was not stored: neither Hermes' folder nor the temporary directory can be written. Free space, or redirect the output.]\n";

/** Reads the output so far; without a file, a line that says so. Rejects when the file cannot be read. */
export async function readOutputFile(path: string): Promise<CommandOutput> {
  return withFile(path, async (read, size, file) => {
    if (size <= HEAD_BYTES + TAIL_BYTES) {
      return { head: (await read(0, size)).toString("utf8"), tail: "", totalBytes: size, omittedBytes: 0, file };
    }
    const head = withoutTornEnd(await read(0, HEAD_BYTES));
    const tail = withoutTornStart(await read(size - TAIL_BYTES, TAIL_BYTES));
    return {
      head: head.toString("utf8"),
      tail: tail.toString("utf8"),
      totalBytes: size,
      omittedBytes: size - head.length - tail.length,
      file,
    };
  });
}

/** Reads at most `maxBytes` from the byte `from` on, in whole characters. Rejects when the file cannot be read. */
export async function readOutputPart(path: string, from: number, maxBytes: number): Promise<OutputPart> {
  return withFile(path, async (read, size) => {
    const length = Math.max(0, Math.min(maxBytes, size - from));
    const bytes = length === 0 ? Buffer.alloc(0) : withoutTornEnd(await read(from, length));
    return { text: bytes.toString("utf8"), nextByte: from + bytes.length, totalBytes: size };
  });
}

type Read = (start: number, length: number) => Promise<Buffer>;

async function withFile<Result>(
  path: string,
  use: (read: Read, size: number, found: string | undefined) => Promise<Result>,
): Promise<Result> {
  const fallback = fallbackOutputFile(path);
  const inFallback = await openThere(fallback);
  const file = inFallback ?? (await openThere(path));
  if (file === undefined) {
    const text = Buffer.from(NOT_STORED);
    return use((start, length) => Promise.resolve(text.subarray(start, start + length)), text.length, undefined);
  }
  try {
    const { size } = await file.stat();
    const read: Read = async (start, length) => {
      const buffer = Buffer.alloc(length);
      const { bytesRead } = await file.read(buffer, 0, length, start);
      return buffer.subarray(0, bytesRead);
    };
    return await use(read, size, inFallback === undefined ? path : fallback);
  } finally {
    await file.close();
  }
}

/** Undefined for a missing file. */
function openThere(path: string): Promise<FileHandle | undefined> {
  return open(path, "r").catch((error: unknown) => {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  });
}

/** Ends and beginnings of characters that a cut tears, each byte as a character. */
const TORN_START = /^[\x80-\xbf]{1,3}/;
const TORN_END = /(?:[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})$/;

function withoutTornStart(bytes: Buffer): Buffer {
  return bytes.subarray(TORN_START.exec(bytes.toString("latin1", 0, CONTINUATION_BYTES))?.[0].length ?? 0);
}

function withoutTornEnd(bytes: Buffer): Buffer {
  const end = bytes.subarray(-CONTINUATION_BYTES).toString("latin1");
  return bytes.subarray(0, bytes.length - (TORN_END.exec(end)?.[0].length ?? 0));
}
