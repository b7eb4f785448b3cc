/** A message that grows while an answer is written, by a stream of the platform or by edits, beside the ledger. */
import type { Clock } from "../../agent-core/platform/clock.ts";
import type { Outbox, Place } from "./outbox.ts";

/** End of a text that goes on. */
const CURSOR = " ▌";

type LiveMessageOptions = {
  readonly outbox: Outbox;
  readonly place: Place;
  readonly clock: Clock;
  /** Time between two edits. Milliseconds. */
  readonly everyMs: number;
  /** A message of an earlier process. */
  readonly id?: string | undefined;
  /** Called when the message is sent. */
  readonly onId?: (id: string) => void;
  /** The message may be streamed, and shows that it goes on. */
  readonly isAnswer?: boolean;
};

export class LiveMessage {
  readonly #options: LiveMessageOptions;
  #isStreamed: boolean;
  #isDraft: boolean = false;
  #id: string | undefined;
  #wanted: string | undefined;
  #shown: string | undefined;
  #stop: (() => void) | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isSending: boolean = false;
  #isLost: boolean = false;

  constructor(options: LiveMessageOptions) {
    const { outbox, place, id, isAnswer = false } = options;
    this.#options = options;
    this.#id = id;
    this.#isStreamed = isAnswer && id === undefined && outbox.streams(place);
  }

  /** Shows this text with the next edit. */
  show(markdown: string): void {
    this.#wanted = markdown;
    const { clock, everyMs } = this.#options;
    this.#stop ??= clock.every(everyMs, () => this.#tick());
  }

  /** Ends the edits; `last` is the text that stays. Resolves to the message's id, if there is one. */
  async end(last?: string): Promise<string | undefined> {
    this.#stop?.();
    this.#stop = undefined;
    await this.#sending;
    if (last !== undefined && this.#id !== undefined && last !== this.#shown) {
      void this.#options.outbox.editLater(this.#options.place, this.#id, last);
    }
    return this.#isDraft ? undefined : this.#id;
  }

  #tick(): void {
    if (this.#isSending || this.#isLost || this.#wanted === undefined || this.#wanted === this.#shown) return;
    this.#isSending = true;
    this.#sending = this.#send(this.#wanted).finally(() => {
      this.#isSending = false;
    });
  }

  async #send(text: string): Promise<void> {
    const { outbox, place, onId, isAnswer = false } = this.#options;
    const shown = isAnswer && !this.#isStreamed ? text + CURSOR : text;
    const sent = await outbox.preview(place, this.#id, shown, this.#isStreamed);
    if (sent.ok) {
      this.#shown = text;
      this.#isDraft = sent.isDraft === true;
      if (this.#id === undefined && !this.#isDraft) onId?.(sent.id);
      this.#id = sent.id;
      return;
    }
    if (this.#isStreamed && sent.kind === "refused") {
      this.#isStreamed = false;
      if (this.#isDraft) this.#id = undefined;
      this.#isDraft = false;
      return;
    }
    if (sent.kind === "gone") this.#id = undefined;
    // A second preview would be a double, and other failures would come again.
    if (sent.kind !== "rate" && sent.kind !== "unsent") this.#isLost = this.#id === undefined;
  }
}
