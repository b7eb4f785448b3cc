/** What runs in the background of the panel's session: shown there, typed into and ended from there. */
import {
  type HermesInputResult,
  type HermesProcessesChanged,
  type HermesProcessId,
  type HermesProcessInput,
  processMethods,
} from "../../agent-core/protocol/processes.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { ChatSession } from "./chat-session.ts";
import type { EventLog } from "./event-log.ts";

export class SessionProcesses {
  readonly #worker: AgentWorker;
  readonly #events: EventLog;
  readonly #chat: ChatSession;

  constructor(worker: AgentWorker, events: EventLog, chat: ChatSession) {
    this.#worker = worker;
    this.#events = events;
    this.#chat = chat;
  }

  /** Another session's are not the panel's to show. */
  changed({ sessionId, processes }: HermesProcessesChanged): void {
    if (sessionId === this.#chat.sessionId) this.#events.push({ kind: "processes", processes });
  }

  /** Rejects with an Error in one line when nothing reads it any more. */
  async input(id: string, text: string): Promise<void> {
    const request: HermesProcessInput = { sessionId: this.#sessionId(), id, text };
    const agent = await this.#worker.agent();
    const { reason } = await agent.request<HermesInputResult>(processMethods.input.name, request);
    if (reason !== undefined) throw new Error(reason);
  }

  /** Ends one with all it has started. */
  async stop(id: string): Promise<void> {
    const request: HermesProcessId = { sessionId: this.#sessionId(), id };
    const agent = await this.#worker.agent();
    await agent.request(processMethods.stop.name, request);
  }

  #sessionId(): string {
    const { sessionId } = this.#chat;
    if (sessionId === undefined) throw new Error("no session is open");
    return sessionId;
  }
}
