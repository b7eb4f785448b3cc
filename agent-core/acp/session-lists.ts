/** Tells a client that keeps lists of sessions what has become of them. */
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { type HermesBuilding, INDEX_BUILDING, SESSIONS_CHANGED } from "./meta.ts";

export class SessionLists {
  readonly #client: AgentContext;

  constructor(client: AgentContext) {
    this.#client = client;
  }

  /** How far the index is. */
  building(building: HermesBuilding): void {
    this.#notify(INDEX_BUILDING, building);
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
