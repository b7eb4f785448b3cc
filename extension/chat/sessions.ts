/** The open sessions of the window, and the panel that shows each. A session is in one panel at most. */
import type { SessionNotification } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import type { PanelEvent, WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import { forkMethod } from "../../agent-core/protocol/sessions.ts";
import type { AgentConnection } from "../agent/agent-connection.ts";
import { ChatSession, type SessionPorts, type StoredSession } from "./chat-session.ts";
import type { ChatPanel, Panels } from "./panels.ts";
import type { PromptContent } from "./prompt-queue.ts";

/** Ports of the sessions that come from outside this file. */
type OuterPorts = Omit<SessionPorts, "compose" | "began" | "changed" | "edited" | "stepped" | "closing" | "closed">;

export type SessionsOptions = OuterPorts & {
  /** Agent of a stored session; without one, of new sessions. */
  readonly agentOf: (sessionId: string | undefined) => AgentConnection;
  /** The session that the side bar showed last. */
  readonly lastShown: { get(): string | undefined; set(sessionId: string | undefined): void };
  /** Ids of the sessions whose turn runs: after a reload of the window those turns can be continued. */
  readonly running: { get(): readonly string[] | undefined; set(sessionIds: readonly string[]): void };
  /** Session that edited a file last, by the file's path. */
  readonly editors: { get(): Editors | undefined; set(editors: Editors): void };
};

type Editors = Readonly<Record<string, string>>;

/** Files whose editor is known: more than are ever under review at once. */
const MAX_EDITORS = 500;

/** `done`: the turn ended while no panel in sight showed the session. */
export type SessionActivity = WorkspaceFacts["background"][number]["state"];

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #panels: Panels;
  readonly #ports: SessionPorts;
  readonly #open = new Set<ChatSession>();
  /** Sessions that are being closed, by their ids. */
  readonly #closing = new Map<string, PromiseWithResolvers<void>>();
  /** Sessions with a turn. */
  readonly #running = new Set<ChatSession>();
  /** Sessions whose turn ended out of sight. */
  readonly #unseen = new Set<ChatSession>();
  /** One entry for each open request. */
  #asking: readonly string[] = [];
  /** Sessions whose turn ended with the last window. */
  readonly #interrupted: Set<string>;
  /** The window closes: the ends of its turns are not recorded. */
  #isFrozen: boolean = false;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #began = new vscode.EventEmitter<void>();
  readonly #listed = new vscode.EventEmitter<void>();

  /** A panel shows another session, or the session that it shows has other options or another state or title. */
  readonly onDidChange = this.#changed.event;
  /** State or step of any open session may have changed. */
  readonly onDidChangeStates = this.#listed.event;
  /** A session in a panel has begun. */
  readonly onDidBegin = this.#began.event;

  constructor(options: SessionsOptions, panels: Panels) {
    this.#options = options;
    this.#panels = panels;
    this.#ports = {
      ...options,
      // A turn that ends with its window is not a failure.
      observed: (session, event) => !this.#isFrozen && options.observed(session, event),
      compose: (session, content) => panels.showing(session)?.giveDraft(content),
      began: (session) => this.#sessionBegan(session),
      changed: (session) => this.#sessionChanged(session),
      edited: (session, paths) => this.#noteEditor(session, paths),
      stepped: () => this.#listed.fire(),
      closing: ({ targetId }) => targetId !== undefined && this.#closing.set(targetId, Promise.withResolvers()),
      closed: (session, isOpen) => this.#sessionClosed(session, isOpen),
    };
    this.#interrupted = new Set(options.running.get());
    const sessionId = options.lastShown.get();
    panels.sideBar.show(this.#create(sessionId === undefined ? undefined : { sessionId, isChosen: false }));
    panels.onDidChangeSight(() => this.#sightChanged());
  }

  /** Delivers an update of the agent to its session. */
  update({ sessionId, update }: SessionNotification): void {
    this.#begun(sessionId)?.receive(update);
  }

  /** Shows an event in its session. */
  emit(sessionId: string, event: PanelEvent): void {
    this.#begun(sessionId)?.log.push(event);
  }

  /** True while the user sees the session. */
  isInSight(sessionId: string): boolean {
    return this.#panels.isInSight(this.#begun(sessionId));
  }

  /** The session in the panel that the user used last. */
  get shown(): ChatSession {
    return this.#panels.active.shown;
  }

  get open(): ReadonlyMap<string, ChatSession> {
    return new Map([...this.#open].flatMap((session) => (session.sessionId ? [[session.sessionId, session]] : [])));
  }

  showNew(panel: ChatPanel): void {
    this.show(panel, this.#create(undefined));
  }

  /**
   * Open session with this id, else the stored one, else a new one, in `folder` (default: those of the window). It needs no
   * panel, and `startInBackground` opens it.
   */
  withoutPanel(sessionId?: string, folder?: string): ChatSession {
    const closing = sessionId === undefined ? undefined : this.#closing.get(sessionId)?.promise;
    const open = closing === undefined ? this.#find(sessionId) : undefined;
    if (open !== undefined) return open;
    const session = this.#create(sessionId === undefined ? undefined : { sessionId, isChosen: true }, closing);
    session.worktree.folder = folder;
    return session;
  }

  /** Starts a turn in a session that needs no panel. */
  startInBackground(content: PromptContent, session = this.withoutPanel()): ChatSession {
    session.prompt(content);
    this.leave(session);
    return session;
  }

  /** Removes the badge of a background session whose result the user has. It stays open for the review. */
  acknowledge(session: ChatSession): void {
    session.dispatch({ type: "return" });
    this.#unseen.delete(session);
    this.#showStates();
  }

  /**
   * Shows a stored session. A panel that shows it already is revealed instead. When it cannot be loaded, the panel gets a
   * new one and the reason.
   */
  showStored(panel: ChatPanel, sessionId: string): void {
    const showing = this.panelOf(sessionId);
    if (showing === undefined) this.show(panel, this.withoutPanel(sessionId));
    else if (showing !== panel) showing.reveal();
  }

  /** Shows the earlier session in a tab that VS Code restored. If that session is lost or in another panel, shows a new one. */
  restoreTab(tab: ChatPanel, sessionId: string | undefined): void {
    const isTaken = sessionId === undefined || this.#find(sessionId) !== undefined;
    this.show(tab, this.#create(isTaken ? undefined : { sessionId, isChosen: false }));
  }

  panelOf(sessionId: string): ChatPanel | undefined {
    return this.#panels.showing(this.#find(sessionId));
  }

  /** Shows the panel of the session. The side bar opens a session that no panel shows. */
  reveal(sessionId: string): void {
    const panel = this.panelOf(sessionId) ?? this.#panels.sideBar;
    if (panel.place === "side-bar") panel.command({ kind: "open-session", sessionId });
    panel.reveal();
  }

  /** Moves the session of the side bar into a new tab. The side bar gets a new session. */
  moveToTab(tab: ChatPanel): void {
    const { sideBar } = this.#panels;
    tab.show(sideBar.shown);
    this.showNew(sideBar);
  }

  /** The tab was closed. A running turn continues. */
  closeTab(tab: ChatPanel): void {
    this.#panels.removeTab(tab);
    this.leave(tab.shown);
  }

  /** Takes the sessions of all open requests. */
  setAsking(sessionIds: readonly string[]): void {
    this.#asking = sessionIds;
    this.#showStates();
  }

  /** Drops a session that was deleted. */
  forget(sessionId: string): void {
    for (const session of this.#open) {
      if (session.targetId === sessionId && this.#panels.showing(session) === undefined) this.#open.delete(session);
    }
    this.#showStates();
  }

  /** The window is about to close: turns that end from now on are interrupted. */
  freeze(): void {
    this.#isFrozen = true;
  }

  /** Stores a session with the messages of `sessionId` before `position` (default: all); resolves to its id. */
  async fork(sessionId: string, position?: number): Promise<string> {
    const agent = await this.#options.agentOf(sessionId).agent();
    const { _meta, ...place } = await this.#options.place();
    const hermes = { ..._meta.hermes, inWorktree: true as const, ...(position !== undefined && { position }) };
    const forked = await call(agent, forkMethod, { sessionId, ...place, _meta: { hermes } });
    return forked.sessionId;
  }

  /** Hermes was restarted: its sessions continue from their journals. */
  agentRestarted(): void {
    for (const session of [...this.#open])
      if (session.agent.offers.hermes) session.dispatch({ type: "agent-restarted" });
  }

  /** Opens sessions without messages again. Any other one keeps its folders: to open it again would end its processes. */
  foldersChanged(): void {
    const text = vscode.l10n.t(
      "The folders of the workspace have changed. This session keeps those that it began with; a new session has all of them.",
    );
    for (const session of this.#open) {
      if (session.sessionId === undefined) continue;
      const isEmpty = session.title === undefined && !session.isRunning && session.agent.offers.hermes;
      if (isEmpty) session.dispatch({ type: "agent-restarted" });
      else session.log.push({ kind: "notice", severity: "info", text });
    }
  }

  /** Another agent has ended: the next message of each of its sessions starts it again. */
  agentEnded(name: string): void {
    for (const session of [...this.#open]) if (session.agent.name === name) session.dispatch({ type: "agent-ended" });
  }

  /** Shows a line in the sessions of an agent. */
  agentReported(name: string, text: string): void {
    for (const session of this.#open)
      if (session.agent.name === name) session.log.push({ kind: "notice", severity: "info", text });
  }

  #create(stored: StoredSession | undefined, ready?: Promise<unknown>): ChatSession {
    const session = new ChatSession(this.#ports, this.#options.agentOf(stored?.sessionId), stored, ready);
    this.#open.add(session);
    return session;
  }

  /** Open session with this id. One that was loaded again beside an earlier one has taken its id. */
  #begun(sessionId: string): ChatSession | undefined {
    return [...this.#open].findLast((session) => session.sessionId === sessionId);
  }

  #find(sessionId: string | undefined): ChatSession | undefined {
    return sessionId === undefined ? undefined : [...this.#open].find(({ targetId }) => targetId === sessionId);
  }

  /** After a reload of the window the side bar shows its session again. */
  show(panel: ChatPanel, session: ChatSession): void {
    session.dispatch({ type: "return" });
    if (panel.place === "side-bar") this.#options.lastShown.set(session.targetId);
    const before = panel.show(session);
    if (before !== undefined) this.leave(before);
    void session.open();
    this.#changed.fire();
  }

  /** Lets a session that no panel shows close when it has nothing to do. */
  leave(session: ChatSession): void {
    if (this.#panels.showing(session) === undefined) session.dispatch({ type: "leave" });
    this.#showStates();
  }

  #sessionChanged(session: ChatSession): void {
    if (session.isRunning) this.#running.add(session);
    else if (this.#running.delete(session) && !this.#panels.isInSight(session)) this.#unseen.add(session);
    if (this.#panels.showing(session) !== undefined) this.#changed.fire();
    if (!this.#isFrozen) {
      const running = [...this.#running].flatMap(({ sessionId }) => sessionId ?? []);
      this.#options.running.set([...this.#interrupted, ...running]);
    }
    this.#showStates();
  }

  #sightChanged(): void {
    for (const session of this.#unseen) if (this.#panels.isInSight(session)) this.#unseen.delete(session);
    this.#changed.fire();
    this.#showStates();
  }

  /** State of an open session that matters outside its panel. */
  stateOf(session: ChatSession): SessionActivity | undefined {
    const { sessionId } = session;
    if (sessionId === undefined || this.#closing.has(sessionId)) return undefined;
    if (this.#asking.includes(sessionId)) return "asks";
    if (session.isRunning) return "working";
    return this.#unseen.has(session) ? "done" : undefined;
  }

  /** Updates the badges of the sessions in the list and above each panel's conversation. */
  #showStates(): void {
    this.#listed.fire();
    const background = [...this.#open].flatMap((session) => {
      const state = this.stateOf(session);
      const { sessionId, title } = session;
      if (state === undefined || sessionId === undefined) return [];
      const isInSight = this.#panels.isInSight(session);
      return [{ sessionId, ...(title !== undefined && { title }), state, isInSight }];
    });
    if (JSON.stringify(background) !== JSON.stringify(this.#panels.facts.background))
      this.#panels.setFacts({ background });
  }

  /** Id of the session that edited the file last. */
  editorOf(path: string): string | undefined {
    return this.#options.editors.get()?.[path];
  }

  #noteEditor({ sessionId }: ChatSession, paths: readonly string[]): void {
    if (sessionId === undefined) return;
    const others = Object.entries(this.#options.editors.get() ?? {}).filter(([path]) => !paths.includes(path));
    const own = paths.map((path) => [path, sessionId] as const);
    this.#options.editors.set(Object.fromEntries([...others, ...own].slice(-MAX_EDITORS)));
  }

  #sessionBegan(session: ChatSession): void {
    const { sessionId } = session;
    if (sessionId === undefined) return;
    this.#open.add(session); // whoever kept it may open it again after its end
    this.#panels.setFacts({ agent: { state: "ready" } });
    if (this.#interrupted.delete(sessionId)) session.log.push({ kind: "interrupted" });
    const panel = this.#panels.showing(session);
    if (panel === undefined) return;
    if (panel.place === "side-bar") this.#options.lastShown.set(sessionId);
    this.#began.fire();
  }

  #sessionClosed(session: ChatSession, isOpen: boolean): void {
    const { targetId: sessionId } = session;
    const closing = sessionId === undefined ? undefined : this.#closing.get(sessionId);
    if (sessionId !== undefined) this.#closing.delete(sessionId);
    if (!isOpen) {
      this.#open.delete(session);
      this.#unseen.delete(session);
      if (sessionId !== undefined) {
        this.#panels.setProcesses({ sessionId, processes: [] });
        this.#panels.setExtensions({ sessionId, items: [] });
      }
    }
    closing?.resolve();
    this.#showStates();
  }
}
