/** What the panel does not show yet of a long session: fetched from the agent as the user scrolls up. */
import { messageOf } from "../../agent-core/platform/errors.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesEarlierRequest, type HermesLoadMeta, sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { EventLog } from "./event-log.ts";

/** A page: more than any screen shows, little enough to be there at once. Messages, tool results included. */
export const PAGE_MESSAGES = 200;

export class EarlierMessages {
  readonly #worker: AgentWorker;
  readonly #log: EventLog;
  #sessionId: string | undefined;
  /** Messages that the panel has been given of the session; undefined: all. */
  #given: number | undefined = PAGE_MESSAGES;
  /** The page that is on its way is one of this opening of the session. */
  #opening = {};
  /** Position that it is asked for with. */
  #asked: number | undefined;

  constructor(worker: AgentWorker, log: EventLog) {
    this.#worker = worker;
    this.#log = log;
  }

  /** How much of a session is asked for: when its agent was restarted, as much as the panel had of it. */
  tailOf(sessionId: string): Pick<HermesLoadMeta, "tail"> {
    const tail = sessionId === this.#sessionId ? this.#given : PAGE_MESSAGES;
    return tail === undefined ? {} : { tail };
  }

  /** The panel has this session from now on, from its end. */
  begin(sessionId: string): void {
    if (sessionId !== this.#sessionId) this.#given = PAGE_MESSAGES;
    this.#sessionId = sessionId;
    this.#opening = {};
    this.#asked = undefined;
  }

  /** Gives the panel what was said before this position: a page of it, or all. */
  async show(before: number, all: boolean): Promise<void> {
    if (this.#sessionId === undefined || this.#asked === before) return;
    const opening = this.#opening;
    this.#asked = before;
    const page = { sessionId: this.#sessionId, before, ...(!all && { messages: PAGE_MESSAGES }) };
    const event = await this.#fetch(page);
    if (opening !== this.#opening) return;
    if (this.#asked === before) this.#asked = undefined;
    if (event.kind === "earlier-page")
      this.#given = all || this.#given === undefined ? undefined : this.#given + PAGE_MESSAGES;
    this.#log.push(event);
  }

  async #fetch(request: HermesEarlierRequest) {
    const { before } = request;
    try {
      const agent = await this.#worker.agent();
      const { updates, earlier } = await call(agent, sessionMethods.earlier, request);
      return { kind: "earlier-page", before, updates, earlier } as const;
    } catch (error) {
      const message = messageOf(error);
      return { kind: "earlier-failed", before, message } as const;
    }
  }
}
