/** What runs in the background of the panel's session: shown there, typed into and ended from there. */
import { call } from "../../agent-core/protocol/method.ts";
import { processMethods } from "../../agent-core/protocol/processes.ts";
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
    const sessionId = this.#sessionId();
    const agent = await this.#worker.agent();
    const { reason } = await call(agent, processMethods.input, { sessionId, id, text });
    if (reason !== undefined) throw new Error(reason);
  }

  /** Ends one with all it has started. */
  async stop(id: string): Promise<void> {
    const sessionId = this.#sessionId();
    const agent = await this.#worker.agent();
    await call(agent, processMethods.stop, { sessionId, id });
  }

  #sessionId(): string {
    const { sessionId } = this.#chat;
    if (sessionId === undefined) throw new Error("no session is open");
    return sessionId;
  }
}
