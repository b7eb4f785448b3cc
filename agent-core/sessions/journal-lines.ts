/** The lines of a journal of any size: read a piece at a time, or one by its place. */
import { closeSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";

/** What is read at once. */
const CHUNK_BYTES = 1_048_576;
const NEWLINE = 10;
/** What is read with a line that is asked for by its place. */
const WINDOW_BYTES = 262_144;
/** A file that lines were read from is closed again after so long. */
const IDLE_MS = 1_000;

/** Where a line stands in its file, its newline not counted. Bytes. */
export type LinePlace = { readonly start: number; readonly length: number };

export type Line = LinePlace & {
  /** Without the newline; good until the next lines are asked for. */
  readonly bytes: Buffer;
};

/** Every whole line in order, many at a time; a torn last line is left out. Rejects with the system's error. */
export async function* readLines(path: string): AsyncGenerator<readonly Line[]> {
  const file = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const cutter = new LineCutter();
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES);
      if (bytesRead === 0) return;
      yield cutter.cut(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** The lines of what is in memory. */
export function linesOf(bytes: Buffer): readonly Line[] {
  return new LineCutter().cut(bytes);
}

/** Reads lines of one file by their places. Its file is open only while it is in use. */
export class LineReader {
  readonly #path: string;
  #descriptor: number | undefined;
  #closing: NodeJS.Timeout | undefined;
  /** What was read last: lines are asked for in their order, mostly. */
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws the system's error, or one of its own when the file has become shorter. */
  read({ start, length }: LinePlace): string {
    const from = start - this.#windowStart;
    if (from >= 0 && from + length <= this.#window.length) return this.#window.toString("utf8", from, from + length);
    this.#window = this.#readAt(start, Math.max(length, WINDOW_BYTES));
    this.#windowStart = start;
    if (this.#window.length < length) throw new Error(`${this.#path} is shorter than it was`);
    return this.#window.toString("utf8", 0, length);
  }

  /** What was read so far may stand there no more. */
  forget(): void {
    clearTimeout(this.#closing);
    this.#closing = undefined;
    this.#window = Buffer.alloc(0);
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Gives less only at the end of the file. */
  #readAt(start: number, length: number): Buffer {
    this.#descriptor ??= openSync(this.#path, "r");
    this.#closing ??= setTimeout(() => this.forget(), IDLE_MS).unref();
    const bytes = Buffer.allocUnsafe(length);
    let got = 0;
    while (got < length) {
      const count = readSync(this.#descriptor, bytes, got, length - got, start + got);
      if (count === 0) break;
      got += count;
    }
    return bytes.subarray(0, got);
  }
}

/** Cuts pieces of a file into lines, which may go on from one piece to the next. */
class LineCutter {
  /** Begins here. */
  #start = 0;
  /** What there is of the line so far. */
  #rest: Buffer[] = [];

  cut(chunk: Buffer): readonly Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      const bytes = this.#rest.length === 0 ? piece : Buffer.concat([...this.#rest, piece]);
      lines.push({ bytes, start: this.#start, length: bytes.length });
      this.#start += bytes.length + 1;
      this.#rest = [];
      from = end + 1;
    }
    if (from < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(from)));
    return lines;
  }
}
