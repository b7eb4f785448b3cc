/** One line that a journal writes: in memory until it is safely in the file, and read from there afterwards. */
import { type JournalEntry, parseEntry } from "./entry.ts";
import type { LineReader } from "./journal-lines.ts";

export class JournalLine {
  readonly #reader: LineReader;
  #bytes: Buffer | undefined;
  #start: number | undefined;
  /** Of the line without its newline. Bytes. */
  readonly #length: number;

  /** `bytes`: the whole line, its newline included; `reader` reads the file that it is for. */
  constructor(bytes: Buffer, reader: LineReader) {
    this.#bytes = bytes;
    this.#length = bytes.length - 1;
    this.#reader = reader;
  }

  /** Throws once it is safe. */
  get bytes(): Buffer {
    if (this.#bytes === undefined) throw new Error("A line of a journal is not kept once it is safe.");
    return this.#bytes;
  }

  /** Where it begins in the file. Throws while it does not stand there. */
  get start(): number {
    if (this.#start === undefined) throw new Error("A line of a journal does not stand in its file yet.");
    return this.#start;
  }

  /** It is in the file, from byte `start` on; a failing disk may still lose it. */
  standsAt(start: number): void {
    this.#start = start;
  }

  /** It survives a power cut where it stands. */
  isSafe(): void {
    this.#bytes = undefined;
  }

  /** Its entry; undefined when something else stands in its place now. Throws when nothing does. */
  read(): JournalEntry | undefined {
    if (this.#bytes !== undefined) return parseEntry(this.#bytes.toString("utf8"));
    return parseEntry(this.#reader.read({ start: this.start, length: this.#length }));
  }
}
