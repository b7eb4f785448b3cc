/**
 * The panel's end of the ordered channel: events arrive in order and exactly once, a gap is noticed and asked for
 * again, what has been shown is acknowledged.
 */
import type { EventsMessage, PanelEvent } from "../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../agent-core/protocol/panel-messages.ts";

/** Takes events in order. `reset`: forget everything that was there before. */
export type EventSink = (events: readonly PanelEvent[], reset: boolean) => void;

export class Channel {
  readonly #post: (message: PanelMessage) => void;
  readonly #sink: EventSink;
  #epoch = "";
  #next = 0;
  #acknowledged = -1;
  // One question for each gap: the messages that were on their way before its answer say nothing new.
  #asked = false as boolean;

  constructor(post: (message: PanelMessage) => void, sink: EventSink) {
    this.#post = post;
    this.#sink = sink;
  }

  /** The numbering in force: changes when the host begins anew. */
  get epoch(): string {
    return this.#epoch;
  }

  /** Tells the host that the panel runs and what it has. */
  start(): void {
    this.#post({ type: "ready", epoch: this.#epoch, next: this.#next });
  }

  /** Hands on what is new in `message`; asks the host when something before it is missing. */
  receive(message: EventsMessage): void {
    if (message.reset) {
      this.#epoch = message.epoch;
      this.#next = message.first;
      this.#acknowledged = -1;
    } else if (message.epoch !== this.#epoch || message.first > this.#next) {
      this.#askAgain();
      return;
    }
    this.#asked = false;
    // The host is ours: its text is what the type says.
    const events: readonly PanelEvent[] =
      typeof message.events === "string" ? JSON.parse(message.events) : message.events;
    const fresh = events.slice(this.#next - message.first);
    this.#next += fresh.length;
    if (fresh.length > 0 || message.reset) this.#sink(fresh, message.reset);
  }

  /** Tells the host that everything received so far is on screen. Says nothing twice. */
  acknowledge(): void {
    if (this.#acknowledged === this.#next) return;
    this.#acknowledged = this.#next;
    this.#post({ type: "ack", epoch: this.#epoch, next: this.#next });
  }

  #askAgain(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.start();
  }
}
