/** Timeouts for a language's first diagnostics after an edit, learnt from its earlier answers. */

/** For a language without earlier answers. Milliseconds. */
const UNKNOWN_MS = 1_000;
/** Limits for a language that answers: the next edit may take longer. */
const LEAST_MS = 400;
const MOST_MS = 2_500;
/** For a language that has never answered. */
const SILENT_MS = 150;
/** Later diagnostics do not concern the edit. */
const LATE_MS = 10_000;
/** Factor over the slowest answer so far. */
const MARGIN = 2;

export class DiagnosticTimeouts {
  /** Slowest answer by language; null for a language that never answered. */
  readonly #slowest = new Map<string, number | null>();

  /** Timeout in milliseconds after the edit. */
  get(language: string): number {
    const slowest = this.#slowest.get(language);
    if (slowest === undefined) return UNKNOWN_MS;
    return slowest === null ? SILENT_MS : Math.min(MOST_MS, Math.max(LEAST_MS, slowest * MARGIN));
  }

  /** Records the time from an edit to the first diagnostics. Milliseconds. */
  recordAnswer(language: string, delay: number): void {
    if (delay > LATE_MS) return;
    this.#slowest.set(language, Math.max(delay, this.#slowest.get(language) ?? 0));
  }

  /** Records that no diagnostics came in time. A language that has answered before had no news. */
  recordSilence(language: string): void {
    if (!this.#slowest.has(language)) this.#slowest.set(language, null);
  }
}
