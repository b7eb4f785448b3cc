/** Tells a client that keeps lists of sessions what has become of them. */
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { type HermesBuilding, IMPORTING, INDEX_BUILDING, SESSIONS_CHANGED } from "./meta/sessions.ts";

const TELL_INTERVAL_MS = 250;

export class SessionLists {
  readonly #client: AgentContext;
  #toldAt = 0;

  constructor(client: AgentContext) {
    this.#client = client;
  }

  /** How far the index is. */
  building(building: HermesBuilding): void {
    this.#notify(INDEX_BUILDING, building);
  }

  /** How far an import is; told a few times a second. */
  importing(progress: HermesBuilding): void {
    const now = Date.now();
    if (now - this.#toldAt < TELL_INTERVAL_MS && progress.done < progress.total) return;
    this.#toldAt = now;
    this.#notify(IMPORTING, progress);
  }

  /** A session has another title, is new, or is gone. */
  changed(): void {
    this.#notify(SESSIONS_CHANGED, {});
  }

  /** What a closed connection cannot take is dropped. */
  #notify(method: string, params: object): void {
    this.#client.notify(method, params).catch(() => undefined);
  }
}
