/** The stored sessions, as the panel's page of them shows them: asked of the agent, page by page. */
import { type ClientContext, methods, type SessionInfo } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { readMeta } from "../../agent-core/protocol/meta.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesBuilding, HermesListedSession, sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { HistoryItem, HistoryPage } from "../../webview/panel-protocol.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { ChatSession } from "./chat-session.ts";
import type { PanelConnection } from "./panel-connection.ts";
import { sessionCost } from "./session-cost.ts";
import type { SessionLists } from "./session-lists.ts";

/** Of a session that nobody and nothing has named yet. */
const UNTITLED = "Untitled session";

const EMPTY: HistoryPage = { query: "", everywhere: false, sessions: [], hasMore: false, isLoading: true };

/** Of a search at a time, and at most. */
const HITS = 50;
const MAX_HITS = 500;

/** Changes of a moment are shown at once. Milliseconds. */
const SETTLE_MS = 100;

/** Sessions, and where the list of them goes on. */
type Listed = { readonly sessions: readonly HistoryItem[]; readonly cursor: string | undefined };

export class SessionHistory implements vscode.Disposable {
  readonly #worker: AgentWorker;
  readonly #panel: PanelConnection;
  readonly #chat: ChatSession;
  readonly #subscription: vscode.Disposable;
  /** The list as the panel has it; undefined while the panel does not show it. */
  #page: HistoryPage | undefined;
  /** Where the list goes on. */
  #cursor: string | undefined;
  /** Counts the questions: an answer that a later one has overtaken is not shown. */
  #asked = 0;
  /** The next page is on its way. */
  #goesOn = false as boolean;
  #building: HermesBuilding | undefined;
  #settling: NodeJS.Timeout | undefined;

  constructor(worker: AgentWorker, panel: PanelConnection, chat: ChatSession, lists: SessionLists) {
    this.#worker = worker;
    this.#panel = panel;
    this.#chat = chat;
    this.#subscription = vscode.Disposable.from(
      lists.onDidBuild((building) => this.#build(building)),
      lists.onDidChange(() => this.#refresh()),
    );
  }

  close(): void {
    this.#asked++;
    this.#page = undefined;
  }

  /** An empty query lists the sessions as they were used last. */
  async search(query: string, everywhere: boolean): Promise<void> {
    const before = this.#page ?? EMPTY;
    this.#show({ ...without(before), query, everywhere, isLoading: true });
    await this.#load();
  }

  /** The next page of the list, or of what was found. */
  async more(): Promise<void> {
    const { sessions = [], query = "", hasMore = false } = this.#page ?? {};
    if (!hasMore || this.#goesOn) return;
    if (query.trim() !== "") return this.#load(sessions.length + HITS);
    this.#goesOn = true;
    const question = this.#asked;
    try {
      const agent = await this.#worker.agent();
      const next = await this.#list(agent, { cursor: this.#cursor });
      if (question !== this.#asked || this.#page === undefined) return;
      this.#cursor = next.cursor;
      const hasMore = next.cursor !== undefined;
      this.#page = { ...this.#page, sessions: [...this.#page.sessions, ...next.sessions], hasMore };
      this.#panel.history({ kind: "next", sessions: next.sessions, hasMore });
    } catch (error) {
      if (question === this.#asked && this.#page) this.#show({ ...this.#page, error: messageOf(error) });
    } finally {
      this.#goesOn = false;
    }
  }

  /** The agent builds its index of the sessions; the list is asked for again when it is done. */
  #build(building: HermesBuilding): void {
    this.#building = building.done < building.total ? building : undefined;
    if (this.#page === undefined) return;
    this.#page = this.#built(this.#page);
    this.#panel.history({ kind: "building", building: this.#building ?? null });
    if (this.#building === undefined) this.#refresh();
  }

  /** Sessions are others than before, here or in another window: what is shown is asked for again. */
  #refresh(): void {
    if (this.#page === undefined) return;
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => void this.#load(this.#page?.sessions.length), SETTLE_MS);
  }

  dispose(): void {
    this.#subscription.dispose();
    clearTimeout(this.#settling);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    await this.#change((agent) => call(agent, sessionMethods.rename, { sessionId, title }));
  }

  async remove(sessionId: string): Promise<void> {
    const isCurrent = sessionId === this.#chat.sessionId;
    await this.#change((agent) => agent.request(methods.agent.session.delete, { sessionId }));
    if (isCurrent) this.#panel.command({ kind: "replace-session" });
  }

  /** Every stored session of this folder, the last used first, for a list of the editor: one page. */
  async recent(): Promise<readonly HistoryItem[]> {
    return (await this.#list(await this.#worker.agent(), { everywhere: false })).sessions;
  }

  async #change(request: (agent: ClientContext) => Promise<unknown>): Promise<void> {
    try {
      await request(await this.#worker.agent());
    } catch (error) {
      if (this.#page !== undefined) this.#show({ ...this.#page, error: messageOf(error) });
      return;
    }
    if (this.#page !== undefined) await this.#load(this.#page.sessions.length);
  }

  /** Asks for what the page shows, at least `count` of them. */
  async #load(count = 0): Promise<void> {
    this.#asked++;
    const question = this.#asked;
    const query = this.#page?.query.trim() ?? "";
    const result = await this.#worker
      .agent()
      .then((agent) => (query === "" ? this.#listUpTo(agent, count) : this.#find(agent, query, count)))
      .then(
        ({ sessions, hasMore, cursor }) => ({ cursor, shown: { sessions, hasMore } }),
        (error: unknown) => ({ cursor: undefined, shown: { error: messageOf(error), hasMore: false } }),
      );
    if (question !== this.#asked || this.#page === undefined) return;
    this.#cursor = result.cursor;
    this.#show({ ...without(this.#page), ...result.shown, isLoading: false });
  }

  async #listUpTo(agent: ClientContext, count: number): Promise<Listed & { readonly hasMore: boolean }> {
    let listed = await this.#list(agent);
    while (listed.cursor !== undefined && listed.sessions.length < count) {
      const { sessions, cursor } = await this.#list(agent, { cursor: listed.cursor });
      listed = { sessions: [...listed.sessions, ...sessions], cursor };
    }
    return { ...listed, hasMore: listed.cursor !== undefined };
  }

  async #list(
    agent: ClientContext,
    from: { readonly everywhere?: boolean; readonly cursor?: string | undefined } = {},
  ): Promise<Listed> {
    const { everywhere = this.#page?.everywhere ?? false, cursor } = from;
    const { sessions, nextCursor } = await agent.request(methods.agent.session.list, {
      ...(!everywhere && { cwd: folder() }),
      ...(cursor !== undefined && { cursor }),
    });
    return { sessions: sessions.map((session) => this.#listed(session)), cursor: nextCursor ?? undefined };
  }

  async #find(agent: ClientContext, query: string, count: number): Promise<Listed & { readonly hasMore: boolean }> {
    const limit = Math.min(MAX_HITS, Math.max(HITS, count));
    const inFolder = this.#page?.everywhere === false && { cwd: folder() };
    const { hits } = await call(agent, sessionMethods.search, { query, limit, ...inFolder });
    const sessions = hits.map(({ sessionId, title, cwd, updatedAt, messages, costUsd, snippet, marks }) => ({
      ...this.#facts({ sessionId, title, cwd, updatedAt }),
      messages,
      cost: sessionCost(costUsd),
      ...(snippet !== "" && { snippet: { text: snippet, marks } }),
    }));
    return { sessions, cursor: undefined, hasMore: hits.length === limit && limit < MAX_HITS };
  }

  #listed(session: SessionInfo): HistoryItem {
    const hermes = readMeta(HermesListedSession, session._meta);
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
    this.#page = this.#built(page);
    this.#panel.history({ kind: "page", page: this.#page });
  }

  #built({ building: _, ...page }: HistoryPage): HistoryPage {
    return { ...page, ...(this.#building && { building: this.#building }) };
  }
}

/** The page without what went wrong on it. */
function without({ error: _, ...page }: HistoryPage): HistoryPage {
  return page;
}

function folder(): string {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
}
