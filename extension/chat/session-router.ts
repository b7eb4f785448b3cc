/** Delivers events and updates of the agent to the session that they belong to. */
import type { SessionNotification, SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import type { EventLog } from "./event-log.ts";

export type RoutedSession = { readonly log: EventLog; receive(update: SessionUpdate): void };

export class SessionRouter {
  readonly #sessions = new Map<string, RoutedSession>();

  add(sessionId: string, session: RoutedSession): void {
    this.#sessions.set(sessionId, session);
  }

  /** Without effect when another session has this id by then. */
  remove(sessionId: string, session: RoutedSession): void {
    if (this.#sessions.get(sessionId) === session) this.#sessions.delete(sessionId);
  }

  update({ sessionId, update }: SessionNotification): void {
    this.#sessions.get(sessionId)?.receive(update);
  }

  emit(sessionId: string, event: PanelEvent): void {
    this.#sessions.get(sessionId)?.log.push(event);
  }
}
