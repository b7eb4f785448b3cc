/** What runs in the background of the panel's session: shown there, typed into and ended from there. */
import {
  type HermesInputResult,
  type HermesProcessId,
  type HermesProcessInput,
  processMethods,
} from "../../agent-core/protocol/processes.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { ChatSession } from "./chat-session.ts";

export class SessionProcesses {
  readonly #worker: AgentWorker;
  readonly #chat: ChatSession;

  constructor(worker: AgentWorker, chat: ChatSession) {
    this.#worker = worker;
    this.#chat = chat;
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
