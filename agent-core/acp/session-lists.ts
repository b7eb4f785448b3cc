/** Tells a client that keeps lists of sessions what has become of them. */
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { type HermesBuilding, sessionMethods } from "../protocol/sessions.ts";

const TELL_INTERVAL_MS = 250;

export class SessionLists {
  readonly #client: AgentContext;
  #toldAt = 0;

  constructor(client: AgentContext) {
    this.#client = client;
  }

  /** How far the index is. */
  building(building: HermesBuilding): void {
    this.#notify(sessionMethods.building.name, building);
  }

  /** How far an import is; told a few times a second. */
  importing(progress: HermesBuilding): void {
    const now = Date.now();
    if (now - this.#toldAt < TELL_INTERVAL_MS && progress.done < progress.total) return;
    this.#toldAt = now;
    this.#notify(sessionMethods.importing.name, progress);
  }

  /** A session has another title, is new, or is gone. */
  changed(): void {
    this.#notify(sessionMethods.changed.name, {});
  }

  /** What a closed connection cannot take is dropped. */
  #notify(method: string, params: object): void {
    this.#client.notify(method, params).catch(() => undefined);
  }
}
