/** The list of stored sessions in the panel: loaded page by page, and again when sessions have changed. */
import { type ClientContext, methods, type SessionInfo } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { sameFolderAs } from "../../agent-core/platform/paths.ts";
import { INITIAL_HISTORY } from "../../agent-core/protocol/initial-facts.ts";
import { call, readMeta } from "../../agent-core/protocol/method.ts";
import type { HistoryItem, HistoryPage, HistoryUpdate } from "../../agent-core/protocol/panel-events.ts";
import {
  type HermesBuilding,
  HermesListedSession,
  type HermesListFilter,
  type HermesShelf,
  sessionMethods,
} from "../../agent-core/protocol/sessions.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import type { Agents } from "../agent/agents.ts";
import { inHome } from "../agent/job-notices.ts";
import type { ChatPanel } from "./panels.ts";
import type { Sessions } from "./sessions.ts";

/** Title of a session without a title. */
const UNTITLED = vscode.l10n.t("Untitled session");

/** Results of a search: page size, and limit of the agent. */
const HITS = 50;
const MAX_HITS = 500;

/** Sessions that the search after `@` finds by their texts. */
const MENTIONED = 5;

/** Sessions of one other agent in the list. */
const MAX_OTHERS = 50;

/** Time within which changes are shown together. Milliseconds. */
const SETTLE_MS = 100;

/** A page of sessions, and the cursor of the next one. A search has more without one. */
type ListPage = Pick<HistoryPage, "sessions" | "hasMore"> & { readonly cursor: string | undefined };

/** A session of any folder. */
export type ListedSession = HistoryItem & { readonly cwd: string; readonly branch: string | undefined };

/** Changes of the stored sessions: notifications of the agent, and other windows. */
export class SessionListChanges implements vscode.Disposable {
  readonly #building = new vscode.EventEmitter<HermesBuilding>();
  readonly #importing = new vscode.EventEmitter<HermesBuilding>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly changed = (): void => this.#changed.fire();
  /** Another window notes the state of its turns in the locks of their journals. */
  readonly #locks = vscode.workspace.createFileSystemWatcher(
    new vscode.RelativePattern(vscode.Uri.file(inHome("vscode", "sessions")), "*.lock"),
  );
  readonly #subscriptions: readonly vscode.Disposable[] = [
    this.#locks,
    ...[this.#locks.onDidCreate, this.#locks.onDidChange, this.#locks.onDidDelete].map((on) => on(this.changed)),
    vscode.window.onDidChangeWindowState(({ focused }) => focused && this.changed()), // where no files are watched
  ];

  /** Progress of the index of sessions; an equal `done` and `total` means the end. */
  readonly onDidBuild = this.#building.event;
  /** Progress of an import. */
  readonly onDidImport = this.#importing.event;
  /** A session was added, renamed or deleted. */
  readonly onDidChange = this.#changed.event;

  readonly building = (progress: HermesBuilding): void => this.#building.fire(progress);
  readonly importing = (progress: HermesBuilding): void => this.#importing.fire(progress);

  dispose(): void {
    for (const one of [this.#building, this.#importing, this.#changed, ...this.#subscriptions]) one.dispose();
  }
}

export class SessionHistory implements vscode.Disposable {
  readonly #worker: AgentWorker;
  readonly #agents: Pick<Agents, "listing">;
  readonly #panel: ChatPanel;
  readonly #sessions: Sessions;
  readonly #subscription: vscode.Disposable;
  /** The list as the panel has it; undefined while the panel does not show it. */
  #page: HistoryPage | undefined;
  /** Cursor of the next page. */
  #cursor: string | undefined;
  /** Number of the latest request; responses to earlier ones are dropped. */
  #requests = 0;
  /**
   * Number of the request that is under way, for the list or for its next page. A next page that is requested meanwhile
   * would follow the list before, and leave a gap. The panel requests it again when it has the new list.
   */
  #underWay: number | undefined;
  #building: HermesBuilding | undefined;
  #refreshTimer: NodeJS.Timeout | undefined;

  constructor(
    { worker, agents }: { readonly worker: AgentWorker; readonly agents: Pick<Agents, "listing"> },
    panel: ChatPanel,
    sessions: Sessions,
    changes: SessionListChanges,
  ) {
    this.#worker = worker;
    this.#agents = agents;
    this.#panel = panel;
    this.#sessions = sessions;
    this.#subscription = vscode.Disposable.from(
      changes.onDidBuild((building) => this.#showProgress(building)),
      changes.onDidChange(() => this.#refresh()),
    );
  }

  close(): void {
    this.#requests++;
    this.#page = undefined;
  }

  /** An empty query lists the sessions, last used first. */
  async search(wanted: Pick<HistoryPage, "query" | "everywhere" | "isArchive">): Promise<void> {
    const before = this.#page ?? INITIAL_HISTORY;
    this.#show({ ...withoutError(before), ...wanted, isLoading: true });
    await this.#load();
  }

  /** Loads the next page of the list or of the search results. */
  async more(): Promise<void> {
    const { sessions = [], query = "", hasMore = false } = this.#page ?? {};
    if (!hasMore || this.#underWay === this.#requests) return;
    if (query.trim() !== "") return this.#load(sessions.length + HITS);
    const request = this.#requests;
    this.#underWay = request;
    try {
      const agent = await this.#worker.agent();
      const { cursor, ...next } = await this.#list(agent, { cursor: this.#cursor });
      if (request !== this.#requests || this.#page === undefined) return;
      this.#cursor = cursor;
      this.#page = { ...this.#page, ...next, sessions: [...this.#page.sessions, ...next.sessions] };
      this.#send({ kind: "next", ...next });
    } catch (error) {
      if (request === this.#requests && this.#page) this.#show({ ...this.#page, error: messageOf(error) });
    } finally {
      if (this.#underWay === request) this.#underWay = undefined;
    }
  }

  /** Progress of the agent's index. The list is loaded again when the index is complete. */
  #showProgress(building: HermesBuilding): void {
    this.#building = building.done < building.total ? building : undefined;
    if (this.#page === undefined) return;
    this.#page = this.#withProgress(this.#page);
    this.#send({ kind: "building", building: this.#building ?? null });
    if (this.#building === undefined) this.#refresh();
  }

  /** Loads the list again: sessions have changed, here or in another window. */
  #refresh(): void {
    if (this.#page === undefined) return;
    clearTimeout(this.#refreshTimer);
    this.#refreshTimer = setTimeout(() => void this.#load(this.#page?.sessions.length), SETTLE_MS);
  }

  dispose(): void {
    this.#subscription.dispose();
    clearTimeout(this.#refreshTimer);
  }

  async rename(sessionId: string, title: string): Promise<void> {
    await this.#change((agent) => call(agent, sessionMethods.rename, { sessionId, title }));
  }

  async shelve(sessionId: string, shelf: HermesShelf | null): Promise<void> {
    await this.#change((agent) => call(agent, sessionMethods.shelve, { sessionId, shelf }));
  }

  async remove(sessionId: string): Promise<void> {
    const showing = this.#sessions.panelOf(sessionId);
    const isDeleted = await this.#change((agent) => agent.request(methods.agent.session.delete, { sessionId }));
    if (!isDeleted) return; // the session stays in its panel, and in the background
    this.#sessions.forget(sessionId);
    showing?.command({ kind: "replace-session" });
  }

  /** Sessions of this folder: the pinned ones, then the last used ones. */
  async recent(): Promise<readonly HistoryItem[]> {
    const agent = await this.#worker.agent();
    const [pinned, others] = await Promise.all(
      (["pinned", "none"] as const).map((shelf) => this.#list(agent, { everywhere: false, shelf })),
    );
    return [...(pinned?.sessions ?? []), ...(others?.sessions ?? [])];
  }

  /** Sessions of all folders that are not archived, last used first. */
  async everywhere(limit: number): Promise<readonly ListedSession[]> {
    const agent = await this.#worker.agent();
    const hermes: HermesListFilter = { limit };
    const { sessions } = await agent.request(methods.agent.session.list, { _meta: { hermes } });
    const item = this.#items();
    return sessions.map((session) => {
      const { branch } = readMeta(HermesListedSession, session._meta) ?? {};
      const shown = item(session);
      return { ...shown, cwd: shown.folder ?? currentFolder(), branch };
    });
  }

  /** Sessions of this folder with `query` in a message, the best ones first. */
  async withText(query: string): Promise<readonly HistoryItem[]> {
    const agent = await this.#worker.agent();
    const search = { query, limit: MENTIONED, cwd: currentFolder(), worktrees: true };
    const { hits } = await call(agent, sessionMethods.search, search);
    const summary = this.#summaries();
    return hits.flatMap(({ snippet, ...hit }) =>
      snippet === "" ? [] : { ...summary(hit), snippet: { text: snippet, marks: [] } },
    );
  }

  /** Resolves to false when the request failed. The list shows the reason. */
  async #change(request: (agent: ClientContext) => Promise<unknown>): Promise<boolean> {
    try {
      await request(await this.#worker.agent());
    } catch (error) {
      if (this.#page !== undefined) this.#show({ ...this.#page, error: messageOf(error) });
      return false;
    }
    if (this.#page !== undefined) await this.#load(this.#page.sessions.length);
    return true;
  }

  /** Loads the list or the search results, at least `count` of them. */
  async #load(count = 0): Promise<void> {
    this.#requests++;
    const request = this.#requests;
    this.#underWay = request;
    const query = this.#page?.query.trim() ?? "";
    const result = await this.#worker
      .agent()
      .then((agent) => (query === "" ? this.#listUpTo(agent, count) : this.#find(agent, query, count)))
      .then(
        ({ cursor, ...shown }) => ({ cursor, shown }),
        (error: unknown) => ({ cursor: undefined, shown: { error: messageOf(error), hasMore: false } }),
      );
    if (this.#underWay === request) this.#underWay = undefined;
    if (request !== this.#requests || this.#page === undefined) return;
    this.#cursor = result.cursor;
    this.#show({ ...withoutError(this.#page), ...result.shown, isLoading: false });
  }

  async #listUpTo(agent: ClientContext, count: number): Promise<ListPage> {
    // Pinned sessions are few: their first page is all of them.
    const pinned = this.#page?.isArchive === true ? undefined : await this.#list(agent, { shelf: "pinned" });
    let listed = await this.#list(agent);
    while (listed.cursor !== undefined && listed.sessions.length < count) {
      const next = await this.#list(agent, { cursor: listed.cursor });
      listed = { ...next, sessions: [...listed.sessions, ...next.sessions] };
    }
    const others = this.#page?.isArchive === true ? [] : await this.#listOthers();
    const byTime = [...listed.sessions, ...others].toSorted((left, right) => right.updatedAt - left.updatedAt);
    return { ...listed, sessions: [...(pinned?.sessions ?? []), ...byTime] };
  }

  /** Sessions of the other agents that run; one that fails to list them has none. */
  async #listOthers(query = ""): Promise<readonly HistoryItem[]> {
    const inFolder = this.#page?.everywhere !== true && { cwd: currentFolder() };
    const summary = this.#summaries();
    const lists = this.#agents.listing.map(async (connection) => {
      const { sessions } = await (await connection.agent()).request(methods.agent.session.list, { ...inFolder });
      return sessions.slice(0, MAX_OTHERS).map((session) => ({ ...summary(session), agent: connection.title }));
    });
    const listed = await Promise.allSettled(lists);
    const found = listed.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    return found.filter(({ title }) => title.toLowerCase().includes(query.toLowerCase()));
  }

  async #list(
    agent: ClientContext,
    from: { readonly everywhere?: boolean; readonly cursor?: string | undefined } & HermesListFilter = {},
  ): Promise<ListPage> {
    const { everywhere = this.#page?.everywhere ?? false, cursor } = from;
    const shelf = from.shelf ?? (this.#page?.isArchive === true ? "archived" : "none");
    const hermes: HermesListFilter = { shelf, worktrees: true };
    const { sessions, nextCursor } = await agent.request(methods.agent.session.list, {
      ...(!everywhere && { cwd: currentFolder() }),
      ...(cursor !== undefined && { cursor }),
      _meta: { hermes },
    });
    return { sessions: sessions.map(this.#items()), cursor: nextCursor ?? undefined, hasMore: nextCursor != null };
  }

  async #find(agent: ClientContext, query: string, count: number): Promise<ListPage> {
    const limit = Math.min(MAX_HITS, Math.max(HITS, count));
    const inFolder = this.#page?.everywhere === false && { cwd: currentFolder(), worktrees: true };
    const { hits } = await call(agent, sessionMethods.search, { query, limit, ...inFolder });
    const others = await this.#listOthers(query);
    const summary = this.#summaries();
    const found = hits.map(({ messages, shelf, costUsd, snippet, marks, ...hit }) => ({
      ...summary(hit),
      messages,
      costUsd,
      ...(shelf !== undefined && { shelf }),
      ...(snippet !== "" && { snippet: { text: snippet, marks } }),
    }));
    return { sessions: [...found, ...others], cursor: undefined, hasMore: hits.length === limit && limit < MAX_HITS };
  }

  #items(): (session: SessionInfo) => HistoryItem {
    const summary = this.#summaries();
    const { open } = this.#sessions; // their states are facts of the window
    return (session) => {
      const { messages, costUsd, shelf, state, isJob } = readMeta(HermesListedSession, session._meta) ?? {};
      const elsewhere = open.has(session.sessionId) ? undefined : state;
      const marks = { ...(shelf && { shelf }), ...(elsewhere && { state: elsewhere }), ...(isJob && { isJob }) };
      return { ...summary(session), messages, costUsd, ...marks };
    };
  }

  /** Rows of one list, which resolves the window's folder once. */
  #summaries(): (session: Pick<SessionInfo, "sessionId" | "title" | "cwd" | "updatedAt">) => HistoryItem {
    const isHere = sameFolderAs(currentFolder());
    return ({ sessionId, title, cwd, updatedAt }) => ({
      sessionId,
      title: title ?? UNTITLED,
      updatedAt: updatedAt ? Date.parse(updatedAt) : 0,
      folder: isHere(cwd) ? undefined : cwd,
      isCurrent: sessionId === this.#panel.shown.sessionId,
    });
  }

  #show(page: HistoryPage): void {
    this.#page = this.#withProgress(page);
    this.#send({ kind: "page", page: this.#page });
  }

  #send(update: HistoryUpdate): void {
    this.#panel.post({ type: "history", update });
  }

  #withProgress({ building: _, ...page }: HistoryPage): HistoryPage {
    return { ...page, ...(this.#building && { building: this.#building }) };
  }
}

function withoutError({ error: _, ...page }: HistoryPage): HistoryPage {
  return page;
}

/** First folder of the workspace, absolute; empty without one. */
export function currentFolder(): string {
  return vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
}
