/**
 * The panel's channel: numbered events of one session, kept for a panel that was hidden or reloaded. Events wait while a
 * slow panel has many to acknowledge; waiting deltas of the same message are merged.
 */
import { randomUUID } from "node:crypto";
import { joinNeighbours } from "../../agent-core/platform/join-neighbours.ts";
import type { EventsMessage, PanelEvent } from "../../agent-core/protocol/panel-events.ts";

/** Limit of events sent and not acknowledged; beyond it sending waits for the panel. */
const WINDOW_EVENTS = 200;
/** Limit of events that are sent as objects; more are sent as one text. */
const PACKED_EVENTS = 500;

export class EventLog {
  #epoch = randomUUID();
  #events: PanelEvent[] = [];
  /** Index of the latest state of each delegation, by its call. */
  readonly #states = new Map<string, number>();
  /** Numbers of the next event to send and of the first unacknowledged one. */
  #sent = 0;
  #acknowledged = 0;
  #post: ((message: EventsMessage) => void) | undefined;
  #scheduled: boolean = false;
  #held: boolean = false;
  readonly #observers = new Set<(event: PanelEvent) => void>();

  /** Discards all events, for a new session in the panel. */
  clear(): void {
    this.#epoch = randomUUID();
    this.#events = [];
    this.#states.clear();
    this.#sent = 0;
    this.#acknowledged = 0;
  }

  /** Calls `observer` with each event from now on. Returns a function that ends this. */
  observe(observer: (event: PanelEvent) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  push(event: PanelEvent): void {
    this.#forgetState(event);
    const last = this.#events.at(-1);
    const merged = this.#sent < this.#events.length && last ? mergeDeltas(last, event) : undefined;
    if (merged === undefined) this.#events.push(event);
    else this.#events[this.#events.length - 1] = merged;
    for (const observer of this.#observers) observer(event);
    this.#schedule();
  }

  /** Drops the earlier state of a delegation: each change sends all of its tasks. */
  #forgetState(event: PanelEvent): void {
    const callId = delegationOf(event);
    if (callId === undefined) return;
    const place = this.#states.get(callId);
    const before = place === undefined ? undefined : this.#events[place];
    if (place !== undefined && before !== undefined) this.#events[place] = withoutTasks(before);
    this.#states.set(callId, this.#events.length);
  }

  /** Sends nothing until `release`, so that the panel draws a long replay once. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#schedule();
  }

  /** Connects the panel, which has all events below `next` of `epoch`. */
  attach(post: (message: EventsMessage) => void, epoch: string, next: number): void {
    this.#post = post;
    const known = epoch === this.#epoch && next <= this.#events.length;
    // The panel restarts the numbers, so none of the old ones is in use.
    if (!known) {
      this.#events = joinNeighbours(this.#events, mergeDeltas);
      this.#states.clear();
    }
    this.#sent = known ? next : 0;
    this.#acknowledged = this.#sent;
    this.#send(!known);
  }

  /** Disconnects the panel of `post` and keeps the events. Without effect when another panel has taken the log. */
  detach(post: (message: EventsMessage) => void): void {
    if (this.#post === post) this.#post = undefined;
  }

  acknowledge(epoch: string, next: number): void {
    if (epoch !== this.#epoch) return;
    this.#acknowledged = Math.max(this.#acknowledged, Math.min(next, this.#events.length));
    if (this.#sent < this.#events.length) this.#schedule();
  }

  /** Sends all events of one pass of the event loop in one message. */
  #schedule(): void {
    if (this.#scheduled || this.#post === undefined) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#send(this.#sent === 0);
    });
  }

  #send(reset: boolean): void {
    if (this.#post === undefined || this.#held) return;
    const waiting = this.#sent - this.#acknowledged;
    if (!reset && (this.#sent >= this.#events.length || waiting >= WINDOW_EVENTS)) return;
    const first = this.#sent;
    const fresh = this.#events.slice(first);
    this.#sent = this.#events.length;
    const events = sizeOf(fresh) > PACKED_EVENTS ? JSON.stringify(fresh) : fresh;
    this.#post({ type: "events", epoch: this.#epoch, first, reset, events });
  }
}

/** Number of events to copy. A page of earlier messages is one event that contains many. */
function sizeOf(events: readonly PanelEvent[]): number {
  return events.reduce((sum, event) => sum + (event.kind === "earlier-page" ? event.updates.length : 1), 0);
}

/** Call of an update with the tasks of a delegation. */
function delegationOf(event: PanelEvent): string | undefined {
  if (event.kind !== "update" || event.update.sessionUpdate !== "tool_call_update") return undefined;
  const { toolCallId, _meta: meta } = event.update;
  const hermes = meta?.["hermes"];
  return typeof hermes === "object" && hermes !== null && "tasks" in hermes ? toolCallId : undefined;
}

function withoutTasks(event: PanelEvent): PanelEvent {
  if (event.kind !== "update" || event.update.sessionUpdate !== "tool_call_update") return event;
  const { _meta: meta, ...update } = event.update;
  const { tasks: _, ...hermes }: { readonly tasks?: unknown } = { ...(meta?.["hermes"] as object) }; // `delegationOf` found it
  return { kind: "update", update: { ...update, ...(Object.keys(hermes).length > 0 && { _meta: { hermes } }) } };
}

/** One event for two deltas of the same text; undefined for any other pair. */
export function mergeDeltas(first: PanelEvent, second: PanelEvent): PanelEvent | undefined {
  if (first.kind === "terminal-output" && second.kind === "terminal-output") {
    return first.terminalId === second.terminalId ? { ...first, text: first.text + second.text } : undefined;
  }
  if (first.kind !== "update" || second.kind !== "update") return undefined;
  const [one, other] = [first.update, second.update];
  if (one.sessionUpdate !== "agent_message_chunk" && one.sessionUpdate !== "agent_thought_chunk") return undefined;
  if (one.sessionUpdate !== other.sessionUpdate || one.messageId !== other.messageId) return undefined;
  if (one.content.type !== "text" || other.content.type !== "text") return undefined;
  return { kind: "update", update: { ...one, content: { type: "text", text: one.content.text + other.content.text } } };
}
