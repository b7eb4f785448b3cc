/**
 * A file of lines that only grows, on a disk that may fail: no half line is ever followed by another one, and what a
 * failed sync may have cost is written again.
 */
import type { JournalFiles } from "./journal-files.ts";
import type { JournalLine } from "./journal-line.ts";

/** How far back from the end a torn last line is looked for at a time. */
const TAIL_CHUNK_BYTES = 65_536;
const NEWLINE = 10;

export class LineFile {
  readonly #files: JournalFiles;
  readonly #descriptor: number;
  /** Tells the open file from every other. */
  readonly #identity: string;
  /** Makes the first line, wherever the file is found empty. */
  readonly #head: () => JournalLine;
  /** Where the next line begins. */
  #end: number;
  /** Lines of this process that a power cut may take. */
  #unsynced: JournalLine[] = [];
  /** A write broke off, and what it left may still stand behind `#end`. */
  #isTorn = false as boolean;
  /** A sync failed: the system may have dropped what it was about, and says so only once. */
  #isDoubtful = false as boolean;

  /** Cuts off what a dying process left of a line. Throws the system's error; nothing is left open then. */
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

  /** Of the whole lines in the file. Bytes. */
  get size(): number {
    return this.#end;
  }

  /** Whether it is still the file that others find at `path`. Throws the system's error. */
  isAt(path: string): boolean {
    return this.#files.identityAt(path) === this.#identity;
  }

  /** Everything in it, which a deleted file still has. Throws the system's error. */
  content(): Buffer {
    return readWhole(this.#files, this.#descriptor, 0, this.#end);
  }

  /** Writes lines, tells each where it stands, and takes it out of `lines`. Throws the system's error; the rest stays. */
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

  /** Makes everything written survive a power cut; one at a time. Rejects with the system's error. */
  async sync(): Promise<void> {
    const lines = new Set(this.#unsynced);
    if (this.#isDoubtful) for (const { bytes, start } of lines) this.#writeAt(bytes, start);
    // Until it is known, whatever is written beside it is in doubt with the rest.
    this.#isDoubtful = true;
    await this.#files.sync(this.#descriptor);
    this.#isDoubtful = false;
    for (const line of lines) line.isSafe();
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
    line.standsAt(this.#end);
    this.#end += bytes.length;
    this.#unsynced.push(line);
  }

  #writeAt(bytes: Buffer, position: number): void {
    let written = 0;
    while (written < bytes.length) {
      const count = this.#files.write(this.#descriptor, bytes.subarray(written), position + written);
      if (count === 0) throw new Error("the system writes no more");
      written += count;
    }
  }

  /** Makes `#end` the end of the file again. */
  #tidy(): void {
    const size = this.#files.size(this.#descriptor);
    if (size === this.#end) this.#isTorn = false;
    else if (this.#isTorn && size > this.#end) this.#cut();
    else {
      // Somebody else has changed the file: it goes on from what it is now.
      this.#end = cutTornLine(this.#files, this.#descriptor);
      this.#unsynced = [];
    }
  }

  /** What a write left is cut off at once, as long as this process lives; where that fails, before the next write. */
  #cutAtOnce(): void {
    if (!this.#isTorn) return;
    try {
      this.#cut();
    } catch {
      // the failure of the write itself is what the caller is told
    }
  }

  #cut(): void {
    this.#files.truncate(this.#descriptor, this.#end);
    this.#isTorn = false;
  }
}

/** A line that a dying process left without its end would swallow the next one. Gives the file's size. */
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
    if (count === 0) throw new Error("the file has become shorter while it was read");
    got += count;
  }
  return bytes;
}
