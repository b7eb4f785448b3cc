/** The open sessions of the window, and the one that the panel shows. */
import type { SessionNotification, SessionUpdate } from "@zed-industries/agent-client-protocol";
import { call } from "../../agent-core/protocol/method.ts";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { forkMethod } from "../../agent-core/protocol/sessions.ts";
import type { AgentConnection } from "../agent/agent-connection.ts";
import { ChatSession, type SessionPlace, type SessionPorts, type StoredSession } from "./chat-session.ts";
import type { EventLog } from "./event-log.ts";
import type { PanelConnection } from "./panel-connection.ts";
import type { PromptContent } from "./prompt-queue.ts";

export type SessionsOptions = {
  /** Agent of a stored session; without one, of new sessions. */
  readonly agentOf: (sessionId: string | undefined) => AgentConnection;
  readonly diskEdits: SessionPorts["diskEdits"];
  /** Throws an Error in one line when no folder is open. */
  readonly place: () => Promise<SessionPlace>;
  readonly warnings: SessionPorts["warnings"];
  readonly promptBlocks: SessionPorts["promptBlocks"];
  readonly rememberModel: (choice: string) => void;
  readonly opened: SessionPorts["opened"];
  /** The session that this window showed last. */
  readonly lastShown: { get(): string | undefined; set(sessionId: string | undefined): void };
  /** Ids of the sessions whose turn runs: after a reload of the window those turns can be continued. */
  readonly running: { get(): readonly string[]; set(sessionIds: readonly string[]): void };
};

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #panel: PanelConnection;
  readonly #router: SessionRouter;
  readonly #ports: SessionPorts;
  readonly #open = new Set<ChatSession>();
  /** Sessions that are being closed, by their ids. */
  readonly #closing = new Map<string, PromiseWithResolvers<void>>();
  /** One entry for each open request. */
  #asking: readonly string[] = [];
  /** Sessions whose turn ended with the last window. */
  readonly #interrupted: Set<string>;
  /** The window closes: the ends of its turns are not recorded. */
  #isFrozen = false as boolean;
  readonly #changed = new Set<() => void>();
  readonly #began = new Set<() => void>();
  #shown: ChatSession;

  constructor(options: SessionsOptions, panel: PanelConnection, router: SessionRouter) {
    this.#options = options;
    this.#panel = panel;
    this.#router = router;
    this.#ports = {
      place: options.place,
      warnings: options.warnings,
      promptBlocks: options.promptBlocks,
      diskEdits: options.diskEdits,
      rememberModel: options.rememberModel,
      opened: options.opened,
      compose: (text) => panel.command({ kind: "compose", text }),
      attach: (attachments) => panel.command({ kind: "attach", attachments }),
      began: (session, previousId) => this.#sessionBegan(session, previousId),
      changed: (session) => this.#sessionChanged(session),
      closing: ({ targetId }) => targetId !== undefined && this.#closing.set(targetId, Promise.withResolvers()),
      closed: (session, isOpen) => this.#sessionClosed(session, isOpen),
    };
    this.#interrupted = new Set(options.running.get());
    const sessionId = options.lastShown.get();
    this.#shown = this.#show(this.#create(sessionId === undefined ? undefined : { sessionId, isChosen: false }));
  }

  /** The session in the panel. */
  get shown(): ChatSession {
    return this.#shown;
  }

  /** Shows a new session. */
  showNew(): void {
    this.#options.lastShown.set(undefined);
    this.#replace(this.#create(undefined));
  }

  /** Starts a turn in a new session that the panel does not show. */
  startInBackground(content: PromptContent): ChatSession {
    const session = this.#create(undefined);
    session.prompt(content);
    session.dispatch({ type: "leave" });
    return session;
  }

  /** The user has the result of a session in the background: it loses its badge, and stays open for the review. */
  acknowledge(session: ChatSession): void {
    session.dispatch({ type: "return" });
    this.#showBackground();
  }

  /** Shows a stored session. When it cannot be loaded, the panel gets a new one and the reason. */
  showStored(sessionId: string): void {
    if (sessionId === this.#shown.targetId) return;
    const open = [...this.#open].find((session) => session.targetId === sessionId);
    const closing = this.#closing.get(sessionId);
    this.#options.lastShown.set(sessionId);
    if (open === undefined || closing !== undefined) {
      this.#replace(this.#create({ sessionId, isChosen: true }, closing?.promise));
    } else {
      open.dispatch({ type: "return" });
      this.#replace(open);
    }
  }

  /** Takes the sessions of all open requests. */
  setAsking(sessionIds: readonly string[]): void {
    this.#asking = sessionIds;
    this.#showBackground();
  }

  /** Drops a session that was deleted. */
  forget(sessionId: string): void {
    for (const session of this.#open) {
      if (session.targetId !== sessionId || session === this.#shown) continue;
      this.#open.delete(session);
      this.#router.remove(sessionId, session);
    }
    this.#showBackground();
  }

  /** The window is about to close: turns that end from now on are interrupted. */
  freeze(): void {
    this.#isFrozen = true;
  }

  /** Stores a session with the messages of `sessionId` before `position` (default: all); resolves to its id. */
  async fork(sessionId: string, position?: number): Promise<string> {
    const agent = await this.#options.agentOf(sessionId).agent();
    const { _meta, ...place } = await this.#options.place();
    const hermes = { ..._meta.hermes, ...(position !== undefined && { position }) };
    const forked = await call(agent, forkMethod, { sessionId, ...place, _meta: { hermes } });
    return forked.sessionId;
  }

  /** Hermes was restarted: its sessions continue from their journals. */
  agentRestarted(): void {
    for (const session of [...this.#open])
      if (session.agent.offers.hermes) session.dispatch({ type: "agent-restarted" });
  }

  /** Another agent has ended: the next message of each of its sessions starts it again. */
  agentEnded(name: string): void {
    for (const session of [...this.#open]) if (session.agent.name === name) session.dispatch({ type: "agent-ended" });
  }

  /** The session shown has other options, or its turn started or ended. */
  onDidChange(listener: () => void): { dispose(): void } {
    return subscribe(this.#changed, listener);
  }

  /** The session shown has begun. */
  onDidBegin(listener: () => void): { dispose(): void } {
    return subscribe(this.#began, listener);
  }

  #create(stored: StoredSession | undefined, ready?: Promise<unknown>): ChatSession {
    const session = new ChatSession(this.#ports, this.#options.agentOf(stored?.sessionId), stored, ready);
    this.#open.add(session);
    return session;
  }

  #show(session: ChatSession): ChatSession {
    this.#panel.show(session.log);
    return session;
  }

  #replace(session: ChatSession): void {
    const left = this.#shown;
    this.#shown = this.#show(session);
    left.dispatch({ type: "leave" });
    void session.open();
    notify(this.#changed);
    this.#showBackground();
  }

  #sessionChanged(session: ChatSession): void {
    if (session === this.#shown) notify(this.#changed);
    if (!this.#isFrozen) {
      const running = [...this.#open].filter(({ isRunning }) => isRunning);
      this.#options.running.set([...this.#interrupted, ...running.flatMap(({ sessionId }) => sessionId ?? [])]);
    }
    this.#showBackground();
  }

  /** Updates the badges of the sessions that the panel does not show. */
  #showBackground(): void {
    const background = [...this.#open].flatMap((session) => {
      const { sessionId, isRunning } = session;
      if (session === this.#shown || sessionId === undefined || this.#closing.has(sessionId)) return [];
      if (!isRunning && !session.hasEndedTurn) return [];
      const quiet = isRunning ? "working" : "done";
      return [{ sessionId, state: this.#asking.includes(sessionId) ? "asks" : quiet } as const];
    });
    if (JSON.stringify(background) !== JSON.stringify(this.#panel.facts.background))
      this.#panel.setFacts({ background });
  }

  #sessionBegan(session: ChatSession, previousId: string | undefined): void {
    const { sessionId } = session;
    if (sessionId === undefined) return;
    if (previousId !== undefined) this.#router.remove(previousId, session);
    this.#router.add(sessionId, session);
    this.#panel.setFacts({ agent: { state: "ready" } });
    if (this.#interrupted.delete(sessionId)) session.log.push({ kind: "interrupted" });
    if (session !== this.#shown) return;
    this.#options.lastShown.set(sessionId);
    notify(this.#began);
  }

  #sessionClosed(session: ChatSession, isOpen: boolean): void {
    const { targetId: sessionId } = session;
    const closing = sessionId === undefined ? undefined : this.#closing.get(sessionId);
    if (sessionId !== undefined) this.#closing.delete(sessionId);
    if (!isOpen) {
      this.#open.delete(session);
      if (sessionId !== undefined) {
        this.#router.remove(sessionId, session);
        this.#panel.setProcesses({ sessionId, processes: [] });
        this.#panel.setExtensions({ sessionId, items: [] });
      }
    }
    closing?.resolve();
    this.#showBackground();
  }
}

function subscribe(listeners: Set<() => void>, listener: () => void): { dispose(): void } {
  listeners.add(listener);
  return { dispose: () => listeners.delete(listener) };
}

function notify(listeners: ReadonlySet<() => void>): void {
  for (const listener of listeners) listener();
}

export type RoutedSession = { readonly log: EventLog; receive(update: SessionUpdate): void };

/** Delivers events and updates of the agent to the session that they belong to. */
export class SessionRouter {
  readonly #sessions = new Map<string, RoutedSession>();

  add(sessionId: string, session: RoutedSession): void {
    this.#sessions.set(sessionId, session);
  }

  /** Without effect when another session has taken this id. */
  remove(sessionId: string, session: RoutedSession): void {
    if (this.#sessions.get(sessionId) === session) this.#sessions.delete(sessionId);
  }

  /** Undefined for a session that is not open. */
  logOf(sessionId: string): EventLog | undefined {
    return this.#sessions.get(sessionId)?.log;
  }

  update({ sessionId, update }: SessionNotification): void {
    this.#sessions.get(sessionId)?.receive(update);
  }

  emit(sessionId: string, event: PanelEvent): void {
    this.#sessions.get(sessionId)?.log.push(event);
  }
}
