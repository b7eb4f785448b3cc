/** Ranges of lines of an output, however long it is: nothing but the wanted lines is held in memory. */
import type { RunningCommand } from "../../host/terminals/terminals.ts";
import { plainText } from "./plain-text.ts";

const CHUNK_BYTES = 1_048_576;
/** What is looked through for the last lines. Bytes. */
const TAIL_BYTES = 262_144;
/** Of a longer line the end is given: it is what a redrawn line shows. Characters, as written. */
const MAX_LINE_CHARS = 4_000;

export type Lines = {
  readonly lines: readonly string[];
  /** Number of the first line, 1-based; undefined when it is not known, counted from the end. */
  readonly first: number | undefined;
  readonly hasMore: boolean;
};

/** The last `limit` lines. */
export async function lastLines(running: RunningCommand, limit: number): Promise<Lines> {
  const { totalBytes } = await running.read(0, 0);
  const from = Math.max(0, totalBytes - TAIL_BYTES);
  const { text } = await running.read(from, TAIL_BYTES);
  const lines = text.replace(/\n$/, "").split("\n");
  const whole = from > 0 && lines.length > 1 ? lines.slice(1) : lines;
  const shown = whole.slice(-limit);
  const first = from === 0 ? whole.length - shown.length + 1 : undefined;
  return { lines: shown.map(shownLine), first, hasMore: false };
}

/** `limit` lines from the line `offset` (1-based) on. */
export async function linesFrom(running: RunningCommand, offset: number, limit: number): Promise<Lines> {
  const picker = new LinePicker(offset, limit);
  let from = 0;
  while (!picker.hasMore) {
    const { text, nextByte } = await running.read(from, CHUNK_BYTES);
    if (nextByte === from) break;
    picker.take(text);
    from = nextByte;
  }
  const { hasMore } = picker;
  return { lines: picker.end().map(shownLine), first: offset, hasMore };
}

/** Takes an output piece by piece and keeps the wanted lines. */
class LinePicker {
  readonly #offset: number;
  readonly #last: number;
  readonly #lines: string[] = [];
  /** The line that is not complete yet, and its number. */
  #open = "";
  #number = 1;

  constructor(offset: number, limit: number) {
    this.#offset = offset;
    this.#last = offset + limit - 1;
  }

  /** Something follows the wanted lines. */
  get hasMore(): boolean {
    return this.#number > this.#last && this.#open !== "";
  }

  take(text: string): void {
    const [first = "", ...others] = text.split("\n");
    this.#extend(first);
    for (const line of others) {
      this.#close();
      this.#extend(line);
      if (this.hasMore) return;
    }
  }

  /** The lines, with the last one also when no line break ends it. */
  end(): readonly string[] {
    if (this.#open !== "") this.#close();
    return this.#lines;
  }

  #extend(text: string): void {
    this.#open = (this.#open + text).slice(-MAX_LINE_CHARS - 1);
  }

  #close(): void {
    if (this.#number >= this.#offset && this.#number <= this.#last) this.#lines.push(this.#open);
    this.#number += 1;
    this.#open = "";
  }
}

function shownLine(line: string): string {
  return plainText(line.length > MAX_LINE_CHARS ? `…${line.slice(-MAX_LINE_CHARS)}` : line);
}
