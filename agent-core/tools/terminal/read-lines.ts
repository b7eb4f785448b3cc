/** Ranges of lines of an output of any length: only the wanted lines are held in memory. */
import type { RunningCommand } from "../../host/terminals/terminals.ts";
import { plainText } from "./output-text.ts";

const CHUNK_BYTES = 1_048_576;
/** Part of the output that is searched for the last lines. Bytes. */
const TAIL_BYTES = 262_144;
/** A longer line is cut to its end, which is the part that a redrawn line shows. Characters. */
const MAX_LINE_CHARS = 4_000;

export type Lines = {
  readonly lines: readonly string[];
  /** Number of the first line, 1-based; undefined when the lines were counted from the end. */
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

/** `limit` lines from line `offset` (1-based) on. */
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

/** Keeps the wanted lines of an output that arrives in pieces. */
class LinePicker {
  readonly #offset: number;
  readonly #last: number;
  readonly #lines: string[] = [];
  /** The incomplete last line, and its number. */
  #open = "";
  #number = 1;

  constructor(offset: number, limit: number) {
    this.#offset = offset;
    this.#last = offset + limit - 1;
  }

  /** True when more output follows the wanted lines. */
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

  /** All lines, including a last one without a line break. */
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
