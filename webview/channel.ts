/**
 * The panel's end of the event channel: delivers events in order and exactly once, requests missing ones, and
 * acknowledges the ones that are on screen.
 */
import type { EventsMessage, PanelEvent } from "../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../agent-core/protocol/panel-messages.ts";

/** Gets events in order. `reset`: drop all earlier events. */
export type EventSink = (events: readonly PanelEvent[], reset: boolean) => void;

export class Channel {
  readonly #post: (message: PanelMessage) => void;
  readonly #sink: EventSink;
  #epoch = "";
  #next = 0;
  #acknowledged = -1;
  /** The missing events have been requested. */
  #requested: boolean = false;

  constructor(post: (message: PanelMessage) => void, sink: EventSink) {
    this.#post = post;
    this.#sink = sink;
  }

  /** Id of the log: event numbers belong to one log. */
  get epoch(): string {
    return this.#epoch;
  }

  /** Reports that the panel runs, and the events that it has. */
  start(): void {
    this.#post({ type: "ready", epoch: this.#epoch, next: this.#next });
  }

  /** Delivers the new events of `message`; after a gap it requests the missing events instead. */
  receive(message: EventsMessage): void {
    if (message.reset) {
      this.#epoch = message.epoch;
      this.#next = message.first;
      this.#acknowledged = -1;
    } else if (message.epoch !== this.#epoch || message.first > this.#next) {
      this.#requestMissing();
      return;
    }
    this.#requested = false;
    // Our own host wrote the text.
    const events: readonly PanelEvent[] =
      typeof message.events === "string" ? JSON.parse(message.events) : message.events;
    const fresh = events.slice(this.#next - message.first);
    this.#next += fresh.length;
    if (fresh.length > 0 || message.reset) this.#sink(fresh, message.reset);
  }

  /** Reports once that all received events are on screen. */
  acknowledge(): void {
    if (this.#acknowledged === this.#next) return;
    this.#acknowledged = this.#next;
    this.#post({ type: "ack", epoch: this.#epoch, next: this.#next });
  }

  #requestMissing(): void {
    if (this.#requested) return;
    this.#requested = true;
    this.start();
  }
}
