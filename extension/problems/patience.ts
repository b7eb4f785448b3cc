/** How long to wait for a language's first word on an edit: as it has needed so far, not for ever where none comes. */

/** While nothing is known of the language. Milliseconds. */
const UNKNOWN_MS = 1_000;
/** No language that answers is given up sooner: the next edit may take it longer. */
const LEAST_MS = 400;
const MOST_MS = 2_500;
/** Languages that have said nothing so far. */
const SILENT_MS = 150;
/** Later word is not word on the edit. */
const LATE_MS = 10_000;
/** Slower than it was last time. */
const MARGIN = 2;

export class Patience {
  /** By language: the slowest answer so far; null when none has come. */
  readonly #slowest = new Map<string, number | null>();

  /** Milliseconds from the edit. */
  of(language: string): number {
    const slowest = this.#slowest.get(language);
    if (slowest === undefined) return UNKNOWN_MS;
    return slowest === null ? SILENT_MS : Math.min(MOST_MS, Math.max(LEAST_MS, slowest * MARGIN));
  }

  /** The first word on an edit came after so many milliseconds. */
  told(language: string, delay: number): void {
    if (delay > LATE_MS) return;
    this.#slowest.set(language, Math.max(delay, this.#slowest.get(language) ?? 0));
  }

  /** No word came in time. A language that has answered before had nothing new to say. */
  silent(language: string): void {
    if (!this.#slowest.has(language)) this.#slowest.set(language, null);
  }
}
