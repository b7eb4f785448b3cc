/** Earlier messages of a long session: the panel asks for a page when the user scrolls up. */
import type { ClientContext } from "@zed-industries/agent-client-protocol";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesEarlierPage, type HermesLoadMeta, sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { EventLog } from "./event-log.ts";

/** Size of a page: more than a screen shows, and loaded at once. Messages, tool results included. */
export const PAGE_MESSAGES = 200;

export class EarlierMessages {
  readonly #agent: () => Promise<ClientContext>;
  readonly #log: EventLog;
  #sessionId: string | undefined;
  /** Number of messages that the panel has; undefined: all. */
  #given: number | undefined = PAGE_MESSAGES;
  /** Changes when the session is loaded again: pages requested before are dropped. */
  #opening = {};
  /** Position of the requested page. */
  #asked: number | undefined;

  constructor(agent: () => Promise<ClientContext>, log: EventLog) {
    this.#agent = agent;
    this.#log = log;
  }

  /** The part of the session to load: after a restart of the agent as much as the panel had. */
  get tail(): Pick<HermesLoadMeta, "tail"> {
    return this.#given === undefined ? {} : { tail: this.#given };
  }

  /** The panel gets the end of this session. */
  begin(sessionId: string): void {
    if (sessionId !== this.#sessionId) this.#given = PAGE_MESSAGES;
    this.#sessionId = sessionId;
    this.#opening = {};
    this.#asked = undefined;
  }

  /** Sends the panel a page of the messages before this position, or all of them. */
  async show(before: number, all: boolean): Promise<void> {
    if (this.#sessionId === undefined || this.#asked === before) return;
    const opening = this.#opening;
    this.#asked = before;
    const page = { sessionId: this.#sessionId, before, ...(!all && { messages: PAGE_MESSAGES }) };
    const event = await earlierEvent(before, async () => call(await this.#agent(), sessionMethods.earlier, page));
    if (opening !== this.#opening) return;
    if (this.#asked === before) this.#asked = undefined;
    if (event.kind === "earlier-page")
      this.#given = all || this.#given === undefined ? undefined : this.#given + PAGE_MESSAGES;
    this.#log.push(event);
  }
}

/** The page before this position, or the reason why the panel cannot have it. */
export async function earlierEvent(before: number, read: () => Promise<HermesEarlierPage>) {
  try {
    const { updates, earlier } = await read();
    return { kind: "earlier-page", before, updates, earlier } as const;
  } catch (error) {
    return { kind: "earlier-failed", before, message: messageOf(error) } as const;
  }
}
