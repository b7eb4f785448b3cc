/** The stored sessions, as the panel's page of them shows them: asked of the agent, page by page. */
import { type ClientContext, methods, type SessionInfo } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import {
  HERMES_SESSION_METHODS,
  type HermesRename,
  type HermesSearch,
  type HermesSearchHits,
} from "../../agent-core/acp/meta.ts";
import type { HistoryItem, HistoryPage } from "../../webview/panel-protocol.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { ChatSession } from "./chat-session.ts";
import type { EventLog } from "./event-log.ts";
import { sessionCost } from "./session-cost.ts";

/** Of a session that nobody and nothing has named yet. */
const UNTITLED = "Untitled session";

const EMPTY: HistoryPage = { query: "", everywhere: false, sessions: [], hasMore: false, isLoading: true };

/** What other agents than ours leave out. */
const listedMeta = z.object({
  hermes: z.object({ messages: z.number(), costUsd: z.number().exactOptional() }),
});

export class SessionHistory {
  readonly #worker: AgentWorker;
  readonly #events: EventLog;
  readonly #chat: ChatSession;
  /** Undefined while the page is not shown. */
  #page: HistoryPage | undefined;
  /** Where the list goes on. */
  #cursor: string | undefined;
  /** Counts the questions: an answer that a later one has overtaken is not shown. */
  #asked = 0;

  constructor(worker: AgentWorker, events: EventLog, chat: ChatSession) {
    this.#worker = worker;
    this.#events = events;
    this.#chat = chat;
  }

  async open(): Promise<void> {
    await this.search("", this.#page?.everywhere ?? false);
  }

  close(): void {
    this.#asked++;
    this.#page = undefined;
    this.#events.push({ kind: "history", page: null });
  }

  /** An empty query lists the sessions as they were used last. */
  async search(query: string, everywhere: boolean): Promise<void> {
    const before = this.#page ?? EMPTY;
    this.#cursor = undefined;
    this.#show({ ...without(before), query, everywhere, isLoading: true });
    await this.#load((agent) => (query.trim() === "" ? this.#list(agent) : this.#find(agent, query.trim())));
  }

  /** The next page of the list. */
  async more(): Promise<void> {
    const page = this.#page;
    if (page === undefined || this.#cursor === undefined) return;
    this.#show({ ...without(page), isLoading: true });
    await this.#load(async (agent) => [...page.sessions, ...(await this.#list(agent))]);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    const rename: HermesRename = { sessionId, title };
    await this.#change((agent) => agent.request(HERMES_SESSION_METHODS.rename, rename));
  }

  async remove(sessionId: string): Promise<void> {
    const isCurrent = sessionId === this.#chat.sessionId;
    await this.#change((agent) => agent.request(methods.agent.session.delete, { sessionId }));
    if (!isCurrent) return;
    await this.#chat.newSession();
    await this.open();
  }

  /** Every stored session of this folder, the last used first, for a list of the editor: one page. */
  async recent(): Promise<readonly HistoryItem[]> {
    return this.#list(await this.#worker.agent(), false);
  }

  async #change(request: (agent: ClientContext) => Promise<unknown>): Promise<void> {
    try {
      await request(await this.#worker.agent());
    } catch (error) {
      if (this.#page !== undefined) this.#show({ ...this.#page, error: messageOf(error) });
      return;
    }
    if (this.#page !== undefined) await this.search(this.#page.query, this.#page.everywhere);
  }

  async #load(ask: (agent: ClientContext) => Promise<readonly HistoryItem[]>): Promise<void> {
    this.#asked++;
    const question = this.#asked;
    const result = await this.#worker
      .agent()
      .then(ask)
      .then(
        (sessions) => ({ sessions }),
        (error: unknown) => ({ error: messageOf(error) }),
      );
    if (question !== this.#asked || this.#page === undefined) return;
    this.#show({ ...without(this.#page), ...result, isLoading: false, hasMore: this.#cursor !== undefined });
  }

  async #list(agent: ClientContext, everywhere = this.#page?.everywhere ?? false): Promise<readonly HistoryItem[]> {
    const { sessions, nextCursor } = await agent.request(methods.agent.session.list, {
      ...(!everywhere && { cwd: folder() }),
      ...(this.#cursor !== undefined && { cursor: this.#cursor }),
    });
    this.#cursor = nextCursor ?? undefined;
    return sessions.map((session) => this.#listed(session));
  }

  async #find(agent: ClientContext, query: string): Promise<readonly HistoryItem[]> {
    const search: HermesSearch = { query, ...(this.#page?.everywhere === false && { cwd: folder() }) };
    const { hits } = await agent.request<HermesSearchHits>(HERMES_SESSION_METHODS.search, search);
    return hits.map(({ sessionId, title, cwd, updatedAt, messages, costUsd, snippet, marks }) => ({
      ...this.#facts({ sessionId, title, cwd, updatedAt }),
      messages,
      cost: sessionCost(costUsd),
      ...(snippet !== "" && { snippet: { text: snippet, marks } }),
    }));
  }

  #listed(session: SessionInfo): HistoryItem {
    const hermes = listedMeta.safeParse(session._meta).data?.hermes;
    return { ...this.#facts(session), messages: hermes?.messages, cost: sessionCost(hermes?.costUsd) };
  }

  #facts({ sessionId, title, cwd, updatedAt }: Pick<SessionInfo, "sessionId" | "title" | "cwd" | "updatedAt">) {
    return {
      sessionId,
      title: title ?? UNTITLED,
      updatedAt: updatedAt ? Date.parse(updatedAt) : 0,
      folder: cwd === folder() ? undefined : cwd,
      isCurrent: sessionId === this.#chat.sessionId,
    };
  }

  #show(page: HistoryPage): void {
    this.#page = page;
    this.#events.push({ kind: "history", page });
  }
}

/** The page without what went wrong on it. */
function without({ error: _, ...page }: HistoryPage): HistoryPage {
  return page;
}

function folder(): string {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
