/**
 * An append-only file of lines on a disk that may fail. No line follows a torn one, and lines of a failed sync are written again.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { attempt } from "../platform/errors.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { type JournalEntry, parseEntry } from "./entry.ts";
import type { LineReader } from "./journal-lines.ts";

/** Step of the search for a torn last line, from the end of the file. */
const TAIL_CHUNK_BYTES = 65_536;
const NEWLINE = 10;

export class LineFile {
  readonly #files: JournalFiles;
  readonly #descriptor: number;
  readonly #identity: string;
  /** Creates the first line of an empty file. */
  readonly #head: () => JournalLine;
  /** Offset of the next line. */
  #end: number;
  /** Lines of this process that a power cut may still lose. */
  #unsynced: JournalLine[] = [];
  /** A write failed, and part of its line may follow `#end`. */
  #isTorn: boolean = false;
  /** A sync failed. The system may have dropped the data, and reports that only once. */
  #isDoubtful: boolean = false;

  /** Cuts off a torn last line. Throws the system's error and leaves nothing open then. */
  constructor(files: JournalFiles, path: string, head: () => JournalLine) {
    this.#files = files;
    this.#head = head;
    this.#descriptor = files.open(path);
    try {
      this.#identity = files.identityOf(this.#descriptor);
      this.#end = cutTornLine(files, this.#descriptor);
    } catch (error) {
      files.close(this.#descriptor);
      throw error;
    }
  }

  /** Bytes of the whole lines in the file. */
  get size(): number {
    return this.#end;
  }

  /** True when `path` still names this file. Throws the system's error. */
  isAt(path: string): boolean {
    return this.#files.identityAt(path) === this.#identity;
  }

  /** Contents of the file, also after its deletion. Throws the system's error. */
  content(): Buffer {
    return readWhole(this.#files, this.#descriptor, 0, this.#end);
  }

  /** Writes lines and removes each written one from `lines`. Throws the system's error; the rest stays in `lines`. */
  write(lines: JournalLine[]): void {
    this.#tidy();
    if (this.#end === 0 && lines.length > 0) this.#append(this.#head());
    let done = 0;
    try {
      for (const line of lines) {
        this.#append(line);
        done += 1;
      }
    } finally {
      lines.splice(0, done);
    }
  }

  /** Makes all written lines survive a power cut. Runs one at a time. Rejects with the system's error. */
  async sync(): Promise<void> {
    const lines = new Set(this.#unsynced);
    if (this.#isDoubtful) for (const { bytes, start } of lines) this.#writeAt(bytes, start);
    // Until the sync succeeds, lines written meanwhile are in doubt too.
    this.#isDoubtful = true;
    await this.#files.sync(this.#descriptor);
    this.#isDoubtful = false;
    for (const line of lines) line.markSynced();
    this.#unsynced = this.#unsynced.filter((line) => !lines.has(line));
  }

  /** Throws the system's error. */
  close(): void {
    this.#files.close(this.#descriptor);
  }

  #append(line: JournalLine): void {
    const { bytes } = line;
    this.#isTorn = true;
    try {
      this.#writeAt(bytes, this.#end);
    } catch (error) {
      this.#cutAtOnce();
      throw error;
    }
    this.#isTorn = false;
    line.markWritten(this.#end);
    this.#end += bytes.length;
    this.#unsynced.push(line);
  }

  #writeAt(bytes: Buffer, position: number): void {
    let written = 0;
    while (written < bytes.length) {
      const count = this.#files.write(this.#descriptor, bytes.subarray(written), position + written);
      if (count === 0) throw new Error("write() wrote 0 bytes");
      written += count;
    }
  }

  /** Makes `#end` the end of the file again. */
  #tidy(): void {
    const size = this.#files.size(this.#descriptor);
    if (size === this.#end) this.#isTorn = false;
    else if (this.#isTorn && size > this.#end) this.#cut();
    else {
      // Another program changed the file: continue at its current end.
      this.#end = cutTornLine(this.#files, this.#descriptor);
      this.#unsynced = [];
    }
  }

  /** Cuts off a failed write at once, while this process lives. If that fails too, the next write does it. */
  #cutAtOnce(): void {
    if (!this.#isTorn) return;
    // The caller gets the error of the write itself.
    attempt(() => this.#cut());
  }

  #cut(): void {
    this.#files.truncate(this.#descriptor, this.#end);
    this.#isTorn = false;
  }
}

/** Removes a torn last line, because the next line would continue it. Returns the file's size. */
function cutTornLine(files: JournalFiles, descriptor: number): number {
  const size = files.size(descriptor);
  const end = lastLineEnd(files, descriptor, size);
  if (end < size) files.truncate(descriptor, end);
  return end;
}

function lastLineEnd(files: JournalFiles, descriptor: number, size: number): number {
  let end = size;
  while (end > 0) {
    const start = Math.max(0, end - TAIL_CHUNK_BYTES);
    const newline = readWhole(files, descriptor, start, end).lastIndexOf(NEWLINE);
    if (newline >= 0) return start + newline + 1;
    end = start;
  }
  return 0;
}

function readWhole(files: JournalFiles, descriptor: number, start: number, end: number): Buffer {
  const bytes = Buffer.alloc(end - start);
  let got = 0;
  while (got < bytes.length) {
    const count = files.read(descriptor, bytes.subarray(got), start + got);
    if (count === 0) throw new Error("the file became shorter during a read");
    got += count;
  }
  return bytes;
}

/** One line of a journal: in memory until the disk has it, afterwards read from the file. */

export class JournalLine {
  readonly #reader: LineReader;
  #bytes: Buffer | undefined;
  #start: number | undefined;
  /** Bytes, without the newline. */
  readonly #length: number;

  /** `bytes`: the line with its newline. `reader`: reads the file of the line. */
  constructor(bytes: Buffer, reader: LineReader) {
    this.#bytes = bytes;
    this.#length = bytes.length - 1;
    this.#reader = reader;
  }

  /** Throws after the sync of the line. */
  get bytes(): Buffer {
    if (this.#bytes === undefined) throw new Error("A line of a journal is not kept once it is safe.");
    return this.#bytes;
  }

  /** Offset in the file. Throws before the line is written. */
  get start(): number {
    if (this.#start === undefined) throw new Error("This line is not in its file yet.");
    return this.#start;
  }

  /** The line is in the file at offset `start`. A failing disk may still lose it. */
  markWritten(start: number): void {
    this.#start = start;
  }

  /** The line survives a power cut. */
  markSynced(): void {
    this.#bytes = undefined;
  }

  /** The entry of the line. Undefined when other bytes are at its place; throws when there are none. */
  read(): JournalEntry | undefined {
    if (this.#bytes !== undefined) return parseEntry(this.#bytes.toString("utf8"));
    return parseEntry(this.#reader.read({ start: this.start, length: this.#length }));
  }
}

/**
 * The file operations of a journal: a small port, so that a test can make any of them fail. Each function throws, or rejects
 * with, the system's error. Offsets and lengths are bytes.
 */
export type JournalFiles = {
  /** Creates the folder of `path` (absolute), readable by the user alone. */
  makeFolder(path: string): void;
  /** Opens `path` (absolute) for reading and writing; creates it, readable by the user alone. */
  open(path: string): number;
  size(descriptor: number): number;
  /** Identity of the file at `path` (absolute): equal only for the same file. Undefined when there is none. */
  identityAt(path: string): string | undefined;
  identityOf(descriptor: number): string;
  /** Returns the count of bytes read; 0 at the end. */
  read(descriptor: number, bytes: Buffer, position: number): number;
  /** Returns the count of bytes written, which may be less than requested. */
  write(descriptor: number, bytes: Buffer, position: number): number;
  truncate(descriptor: number, length: number): void;
  /** Settles when written bytes survive a power cut. */
  sync(descriptor: number): Promise<void>;
  close(descriptor: number): void;
};

const { O_CREAT, O_RDWR } = constants;

export const systemFiles: JournalFiles = {
  makeFolder: (path) => makeFolder(dirname(path), 0o700),
  open: (path) => openSync(path, O_RDWR | O_CREAT, 0o600),
  size: (descriptor) => fstatSync(descriptor).size,
  identityAt(path) {
    const found = statSync(path, { throwIfNoEntry: false });
    return found && identity(found);
  },
  identityOf: (descriptor) => identity(fstatSync(descriptor)),
  read: (descriptor, bytes, position) => readSync(descriptor, bytes, 0, bytes.length, position),
  write: (descriptor, bytes, position) => writeSync(descriptor, bytes, 0, bytes.length, position),
  truncate: ftruncateSync,
  sync: promisify(fdatasync),
  close: closeSync,
};

function identity({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}
