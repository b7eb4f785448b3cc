/** Reviews of the last messages of a session for its memory: after some turns, and before a summary replaces older messages. */
import type { TranscriptEntry } from "../sessions/conversation.ts";
import type { NotingAgent, ReviewTask } from "./review-messages.ts";

/** User messages below which notes before a summary are not worth a request: the summary contains so few. */
const MIN_SUMMARIZED = 6;

/** Delay after a turn: the next message would cancel the review. Milliseconds. */
const REVIEW_DELAY_MS = 3_000;
/**
 * Review of the last messages for facts that later sessions need. One after a turn never delays the next turn, which cancels it.
 */
export class MemoryReview {
  readonly #agent: NotingAgent;
  /** User messages between two reviews; 0: no reviews. */
  readonly #interval: number;
  /** Number of user messages at the last review. A resumed session starts with its number of user messages. */
  #reviewed: number;
  #running: { readonly cancel: AbortController; readonly done: Promise<void> } | undefined;

  constructor(agent: NotingAgent) {
    const { memory, options } = agent.setup;
    this.#agent = agent;
    this.#interval = memory === undefined ? 0 : (options.memoryReviewTurns ?? 0);
    this.#reviewed = this.#interval === 0 ? 0 : Math.floor(this.#prompts.length / this.#interval) * this.#interval;
  }

  get #prompts(): readonly TranscriptEntry[] {
    return this.#agent.session.conversation.transcript.filter(({ shownAs }) => shownAs === "prompt");
  }

  /** Starts a review if one is due. Returns at once. */
  turnEnded(): void {
    const { onDefect, clock } = this.#agent.setup;
    const count = this.#prompts.length;
    if (this.#interval === 0 || count - this.#reviewed < this.#interval || this.#running !== undefined) return;
    const cancel = new AbortController();
    const done = clock
      .wait(REVIEW_DELAY_MS, cancel.signal)
      .then(() => this.#run("background_review", count, cancel.signal))
      .catch((error: unknown) => cancel.signal.aborted || onDefect(`The memory review failed: ${String(error)}`))
      .then(() => {
        this.#running = undefined;
      });
    this.#running = { cancel, done };
  }

  /** A turn begins, or the session closes. A cancelled review is due again after the next turn. */
  async cancel(): Promise<void> {
    this.#running?.cancel.abort();
    await this.#running?.done;
  }

  /** Reads what no review has read, before a summary replaces it. Throws the signal's reason when it is aborted. */
  async beforeSummary(signal: AbortSignal): Promise<void> {
    await this.cancel();
    const count = this.#prompts.length;
    if (count - this.#reviewed >= MIN_SUMMARIZED) await this.#run("flush_memories", count, signal);
  }

  async #run(task: ReviewTask, count: number, signal: AbortSignal): Promise<void> {
    const { reviewMessages } = await import("./review-messages.ts");
    const from = this.#prompts.at(this.#reviewed - count)?.position ?? 0;
    if (await reviewMessages(this.#agent, { task, from }, signal)) this.#reviewed = count;
  }
}
