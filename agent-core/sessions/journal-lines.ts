/** Reads the lines of a journal of any size: in order, or one line by its place. */
import { closeSync, openSync, readSync } from "node:fs";
import { open } from "node:fs/promises";
import { type JournalEntry, parseEntry, parseLine } from "./entry.ts";

/** Bytes per read. */
const CHUNK_BYTES = 262_144;
const NEWLINE = 10;
/** Bytes that a read of one line takes along: lines are mostly requested in order. */
const WINDOW_BYTES = 262_144;
const FIRST_LINE_BYTES = 65_536;
const TAIL_BYTES = 65_536;
/** An idle file is closed after this time. */
const IDLE_MS = 1_000;

/** Position of a line in its file, in bytes, without the newline. */
export type LinePlace = { readonly start: number; readonly length: number };

export type Line = LinePlace & {
  /** Without the newline. Valid until the next lines are requested. */
  readonly bytes: Buffer;
};

/** Yields all whole lines from byte `start` on, in batches, without a torn last line. Rejects with the system's error. */
export async function* readLines(path: string, start = 0): AsyncGenerator<readonly Line[]> {
  const file = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    const cutter = new LineCutter(start);
    for (let at = start; ; ) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield cutter.cut(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** First line of a journal, at most 64 kB. Rejects with the system's error. */
export async function readFirstLine(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
    const text = buffer.toString("utf8", 0, bytesRead);
    return text.slice(0, Math.max(0, text.indexOf("\n")));
  } finally {
    await file.close();
  }
}

/** The last 64 kB of a journal, which hold its last entry mostly. Rejects with the system's error. */
export async function readTail(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(TAIL_BYTES), 0, TAIL_BYTES, start);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

export function linesOf(bytes: Buffer): readonly Line[] {
  return new LineCutter().cut(bytes);
}

/** Reads lines of one file by their places. The file is open only during use. */
export class LineReader {
  readonly #path: string;
  #descriptor: number | undefined;
  #closing: NodeJS.Timeout | undefined;
  /** The bytes of the last read. */
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws the system's error, or an Error when the file has become shorter. */
  read({ start, length }: LinePlace): string {
    const from = start - this.#windowStart;
    if (from >= 0 && from + length <= this.#window.length) return this.#window.toString("utf8", from, from + length);
    this.#window = this.#readAt(start, Math.max(length, WINDOW_BYTES));
    this.#windowStart = start;
    if (this.#window.length < length) throw new Error(`${this.#path} is shorter than it was`);
    return this.#window.toString("utf8", 0, length);
  }

  /** Drops cached bytes, because the file may have changed. */
  forget(): void {
    clearTimeout(this.#closing);
    this.#closing = undefined;
    this.#window = Buffer.alloc(0);
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Returns fewer bytes only at the end of the file. */
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

/** Splits chunks of a file into lines. A line may continue in the next chunk. */
class LineCutter {
  /** Offset of the current line. */
  #start: number;
  /** The current line so far. */
  #rest: Buffer[] = [];

  constructor(start = 0) {
    this.#start = start;
  }

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

/** First characters of every entry. Parts of messages can begin like this too. */
export const ENTRY_START = '{"type":"';
/** Limit of parse attempts: a damaged line can hold thousands of candidates. */
const MAX_ATTEMPTS = 500;

export type RecoveredEntry = { readonly json: unknown; readonly text: string };

/** All entries in the text of a line, whole or damaged. */
export function entriesIn(line: string): readonly JournalEntry[] {
  const entry = parseEntry(line);
  if (entry !== undefined) return [entry];
  if (parseLine(line) !== undefined) return []; // an entry of a later version
  return recoverEntries(line).flatMap(({ text }) => parseEntry(text) ?? []);
}

/** Texts within `line` that are JSON and begin like an entry, in order and without overlap. */
export function recoverEntries(line: string): readonly RecoveredEntry[] {
  const starts = startsIn(line);
  const ends = [...starts.filter((start) => isBoundary(line, start)), line.length];
  const saved: RecoveredEntry[] = [];
  let attempts = 0;
  let from = 0;
  for (const start of starts) {
    if (start < from) continue; // inside an entry that is already recovered
    for (const end of ends) {
      if (end <= start) continue;
      attempts += 1;
      if (attempts > MAX_ATTEMPTS) return saved;
      const found = parsed(line, start, end);
      if (found === undefined) continue;
      saved.push(found);
      from = end;
      break;
    }
  }
  return saved;
}

/** True between two entries. Within an entry a comma separates the objects. */
function isBoundary(line: string, start: number): boolean {
  return line[start - 1] === "}" || (line[start - 2] === "}" && line[start - 1] !== ",");
}

/** Parses up to `end`, or up to the character before it, which may be a newline. */
function parsed(line: string, start: number, end: number): RecoveredEntry | undefined {
  for (const text of [line.slice(start, end), line.slice(start, end - 1)]) {
    const json = parseLine(text);
    if (json !== undefined) return { json, text };
  }
  return undefined;
}

function startsIn(line: string): readonly number[] {
  const starts: number[] = [];
  for (let at = line.indexOf(ENTRY_START); at >= 0; at = line.indexOf(ENTRY_START, at + 1)) starts.push(at);
  return starts;
}
