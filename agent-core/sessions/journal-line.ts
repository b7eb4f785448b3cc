/** One line that a journal writes: in memory until it is safely in the file, and read from there afterwards. */
import { type JournalEntry, parseEntry } from "./entry.ts";
import type { LinePlace, LineReader } from "./journal-lines.ts";

export class JournalLine {
  #bytes: Buffer | undefined;
  #place: LinePlace | undefined;

  /** `bytes`: the whole line, its newline included. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Throws once it is safe. */
  get bytes(): Buffer {
    if (this.#bytes === undefined) throw new Error("A line of a journal is not kept once it is safe.");
    return this.#bytes;
  }

  /** Where it begins in the file. Throws while it does not stand there. */
  get start(): number {
    if (this.#place === undefined) throw new Error("A line of a journal does not stand in its file yet.");
    return this.#place.start;
  }

  /** It is in the file, from byte `start` on; a failing disk may still lose it. */
  standsAt(start: number): void {
    this.#place = { start, length: this.bytes.length - 1 };
  }

  /** It survives a power cut where it stands. */
  isSafe(): void {
    this.#bytes = undefined;
  }

  /** Undefined when something else stands in its place now. Throws when nothing does. */
  read(reader: LineReader): JournalEntry | undefined {
    if (this.#bytes !== undefined) return parseEntry(this.#bytes.toString("utf8"));
    return this.#place === undefined ? undefined : parseEntry(reader.read(this.#place));
  }
}
