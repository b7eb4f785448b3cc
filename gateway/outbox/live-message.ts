/** A message that grows while an answer is written, by a stream of the platform or by edits, beside the ledger. */
import type { Clock } from "../../agent-core/platform/clock.ts";
import type { Outbox, Place } from "./outbox.ts";

/** End of a text that goes on. */
const CURSOR = " ▌";

export class LiveMessage {
  readonly #outbox: Outbox;
  readonly #place: Place;
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #onId: (id: string) => void;
  readonly #isAnswer: boolean;
  #isStreamed: boolean;
  #isDraft: boolean = false;
  #id: string | undefined;
  #wanted: string | undefined;
  #shown: string | undefined;
  #stop: (() => void) | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isSending: boolean = false;
  #isLost: boolean = false;

  /**
   * `id`: a message of an earlier process. `everyMs`: time between two edits. `onId`: called when the message is sent.
   * `isAnswer`: it may be streamed, and shows that it goes on.
   */
  constructor(options: {
    readonly outbox: Outbox;
    readonly place: Place;
    readonly clock: Clock;
    readonly everyMs: number;
    readonly id?: string | undefined;
    readonly onId?: (id: string) => void;
    readonly isAnswer?: boolean;
  }) {
    this.#outbox = options.outbox;
    this.#place = options.place;
    this.#clock = options.clock;
    this.#everyMs = options.everyMs;
    this.#id = options.id;
    this.#onId = options.onId ?? (() => undefined);
    this.#isAnswer = options.isAnswer === true;
    this.#isStreamed = this.#isAnswer && options.id === undefined && options.outbox.streams(options.place);
  }

  /** Shows this text with the next edit. */
  show(markdown: string): void {
    this.#wanted = markdown;
    this.#stop ??= this.#clock.every(this.#everyMs, () => this.#tick());
  }

  /** Ends the edits; `last` is the text that stays. Resolves to the message's id, if there is one. */
  async end(last?: string): Promise<string | undefined> {
    this.#stop?.();
    this.#stop = undefined;
    await this.#sending;
    if (last !== undefined && this.#id !== undefined && last !== this.#shown) {
      void this.#outbox.editLater(this.#place, this.#id, last);
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
    const shown = this.#isAnswer && !this.#isStreamed ? text + CURSOR : text;
    const sent = await this.#outbox.preview(this.#place, this.#id, shown, this.#isStreamed);
    if (sent.ok) {
      this.#shown = text;
      this.#isDraft = sent.isDraft === true;
      if (this.#id === undefined && !this.#isDraft) this.#onId(sent.id);
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
