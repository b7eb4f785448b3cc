/** Texts that the model wants to be told of when a background command prints them. */
import type { RunningCommand } from "../../host/terminals/terminals.ts";
import { plainText } from "./plain-text.ts";

/** Lines told of at a time; a command that prints them all the time would drown everything else. */
const MAX_HITS = 3;
/** Output looked through at a time; of more its end. Bytes. */
const MAX_BYTES = 4_194_304;
const MAX_LINE_CHARS = 300;

export class WatchedText {
  readonly #running: RunningCommand;
  readonly #texts: readonly string[];
  #from = 0;

  /** Upper and lower case count the same. */
  constructor(running: RunningCommand, texts: readonly string[]) {
    this.#running = running;
    this.#texts = texts.map((text) => text.toLowerCase());
  }

  /** Whole lines since the last call that hold one of the texts. */
  async hits(): Promise<readonly string[]> {
    const { totalBytes } = await this.#running.read(0, 0);
    const { text } = await this.#running.read(Math.max(this.#from, totalBytes - MAX_BYTES), MAX_BYTES);
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    this.#from = totalBytes - Buffer.byteLength(text.slice(whole.length));
    const found = plainText(whole)
      .split("\n")
      .filter((line) => this.#texts.some((wanted) => line.toLowerCase().includes(wanted)));
    const shown = found.slice(0, MAX_HITS).map((line) => line.slice(0, MAX_LINE_CHARS));
    return found.length > MAX_HITS ? [...shown, `… and ${found.length - MAX_HITS} lines more`] : shown;
  }
}
