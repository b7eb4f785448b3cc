/** Progress of long work: one line that changes on a terminal, plain lines elsewhere, or JSON for programs. */

export const PROGRESS_MODES = ["auto", "plain", "json"] as const;
export type ProgressMode = (typeof PROGRESS_MODES)[number];

export type Counts = {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly costUsd: number;
};

export type ProgressOutput = {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  /** Milliseconds; does not go back. */
  readonly now: () => number;
};

/** Time between two plain lines, and between two changes of the line on a terminal. Milliseconds. */
const PLAIN_MS = 10_000;
const TERMINAL_MS = 200;

export class Progress {
  readonly #mode: "terminal" | "plain" | "json";
  readonly #output: ProgressOutput;
  readonly #beganAt: number;
  readonly #already: number;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** `already`: tasks that an earlier run has done. */
  constructor(mode: ProgressMode, output: ProgressOutput, already: number) {
    const usual = output.isTerminal ? "terminal" : "plain";
    this.#mode = mode === "auto" ? usual : mode;
    this.#output = output;
    this.#already = already;
    this.#beganAt = output.now();
  }

  /** `isLast` shows the line in any case. */
  show(counts: Counts, isLast = false): void {
    const now = this.#output.now();
    const interval = this.#mode === "terminal" ? TERMINAL_MS : PLAIN_MS;
    if (!isLast && now - this.#shownAt < interval) return;
    this.#shownAt = now;
    const facts = this.#factsOf(counts, now);
    if (this.#mode === "json") this.#output.write(`${JSON.stringify({ event: "progress", ...counts, ...facts })}\n`);
    else if (this.#mode === "plain") this.#output.write(`${progressLine(counts, facts)}\n`);
    else this.#output.write(`\r\u001b[2K${progressLine(counts, facts)}${isLast ? "\n" : ""}`);
  }

  /** A line about something else. */
  note(text: string): void {
    if (this.#mode === "json") this.#output.write(`${JSON.stringify({ event: "note", text })}\n`);
    else this.#output.write(`${this.#mode === "terminal" ? "\r\u001b[2K" : ""}${text}\n`);
  }

  #factsOf({ total, done }: Counts, now: number): Facts {
    const seconds = (now - this.#beganAt) / 1_000;
    const own = done - this.#already;
    const perMinute = seconds > 0 ? (own / seconds) * 60 : 0;
    return { perMinute, secondsLeft: own > 0 ? ((total - done) * seconds) / own : undefined };
  }
}

type Facts = { readonly perMinute: number; readonly secondsLeft: number | undefined };

function progressLine({ total, done, failed, costUsd }: Counts, { perMinute, secondsLeft }: Facts): string {
  const parts = [
    `${done}/${total} tasks`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${perMinute.toFixed(perMinute < 10 ? 1 : 0)}/min`,
    ...(costUsd > 0 ? [`$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`] : []),
    ...(secondsLeft !== undefined && done < total ? [`${timeText(secondsLeft)} left`] : []),
  ];
  return parts.join(" · ");
}

function timeText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)}s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
