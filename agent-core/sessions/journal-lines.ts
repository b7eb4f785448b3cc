/** The lines of a journal of any size: read a piece at a time, or one by its place. */
import { closeSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";

/** What is read at once. */
const CHUNK_BYTES = 1_048_576;
const NEWLINE = 10;

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

/** Reads one line. Throws the system's error, or one of its own when the file has become shorter. */
export function readLineAt(path: string, { start, length }: LinePlace): string {
  const descriptor = openSync(path, "r");
  try {
    const bytes = Buffer.allocUnsafe(length);
    let got = 0;
    while (got < length) {
      const count = readSync(descriptor, bytes, got, length - got, start + got);
      if (count === 0) throw new Error(`${path} is shorter than it was`);
      got += count;
    }
    return bytes.toString("utf8");
  } finally {
    closeSync(descriptor);
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
