/** Tells a client that keeps lists of sessions what has become of them. */
import type { AgentContext } from "@zed-industries/agent-client-protocol";
import { notify } from "../protocol/method.ts";
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
    notify(this.#client, sessionMethods.building, building);
  }

  /** How far an import is; told a few times a second. */
  importing(progress: HermesBuilding): void {
    const now = Date.now();
    if (now - this.#toldAt < TELL_INTERVAL_MS && progress.done < progress.total) return;
    this.#toldAt = now;
    notify(this.#client, sessionMethods.importing, progress);
  }

  /** A session has another title, is new, or is gone. */
  changed(): void {
    notify(this.#client, sessionMethods.changed, {});
  }
}
