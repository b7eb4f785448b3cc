/** The open sessions of the window, and the one that the panel shows. */
import type { ClientContext, SessionNotification, SessionUpdate } from "@zed-industries/agent-client-protocol";
import { call } from "../../agent-core/protocol/method.ts";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { forkMethod } from "../../agent-core/protocol/sessions.ts";
import { ChatSession, type SessionPlace, type SessionPorts, type StoredSession } from "./chat-session.ts";
import type { EventLog } from "./event-log.ts";
import type { PanelConnection } from "./panel-connection.ts";

export type SessionsOptions = {
  readonly agent: () => Promise<ClientContext>;
  /** Throws an Error in one line when no folder is open. */
  readonly place: () => SessionPlace;
  readonly rememberModel: (choice: string) => void;
  readonly opened: SessionPorts["opened"];
  /** The session that this window showed last. */
  readonly lastShown: { get(): string | undefined; set(sessionId: string | undefined): void };
};

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #panel: PanelConnection;
  readonly #router: SessionRouter;
  readonly #ports: SessionPorts;
  readonly #open = new Set<ChatSession>();
  /** Sessions that were left and are being closed, by their ids. */
  readonly #leaving = new Map<string, PromiseWithResolvers<void>>();
  readonly #changed = new Set<() => void>();
  readonly #began = new Set<() => void>();
  #shown: ChatSession;

  constructor(options: SessionsOptions, panel: PanelConnection, router: SessionRouter) {
    this.#options = options;
    this.#panel = panel;
    this.#router = router;
    this.#ports = {
      agent: options.agent,
      place: options.place,
      rememberModel: options.rememberModel,
      opened: options.opened,
      compose: (text) => panel.command({ kind: "compose", text }),
      began: (session, previousId) => this.#sessionBegan(session, previousId),
      changed: (session) => session === this.#shown && notify(this.#changed),
      closed: (session, isOpen) => this.#sessionClosed(session, isOpen),
    };
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
    // The list of sessions is sorted by last use: the session that was left must come after the new one.
    const turnEnd = this.#leave(this.#shown);
    this.#replace(this.#create(undefined, turnEnd));
  }

  /** Shows a stored session. When it cannot be loaded, the panel gets a new one and the reason. */
  showStored(sessionId: string): void {
    if (sessionId === this.#shown.targetId) return;
    const open = [...this.#open].find((session) => session.targetId === sessionId);
    const closing = this.#leaving.get(sessionId);
    this.#options.lastShown.set(sessionId);
    const turnEnd = this.#leave(this.#shown);
    if (open === undefined || closing !== undefined) {
      this.#replace(this.#create({ sessionId, isChosen: true }, Promise.all([turnEnd, closing?.promise])));
    } else {
      open.dispatch({ type: "return" });
      this.#replace(open);
    }
  }

  /** Stores a session with the messages of `sessionId` before `position` (default: all); resolves to its id. */
  async fork(sessionId: string, position?: number): Promise<string> {
    const agent = await this.#options.agent();
    const { _meta, ...place } = this.#options.place();
    const hermes = { ..._meta.hermes, ...(position !== undefined && { position }) };
    const forked = await call(agent, forkMethod, { sessionId, ...place, _meta: { hermes } });
    return forked.sessionId;
  }

  /** The agent was restarted: sessions continue from their journals. */
  agentRestarted(): void {
    for (const session of [...this.#open]) session.dispatch({ type: "agent-restarted" });
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
    const session = new ChatSession(this.#ports, stored, ready);
    this.#open.add(session);
    return session;
  }

  #show(session: ChatSession): ChatSession {
    this.#panel.show(session.log);
    return session;
  }

  #replace(session: ChatSession): void {
    this.#shown = this.#show(session);
    void session.open();
    notify(this.#changed);
  }

  /**
   * A session that the panel does not show anymore stops its turn and closes. To let its turn continue, leave out this
   * call: its log and its state work without a panel. Resolves at the end of the turn.
   */
  #leave(session: ChatSession): Promise<void> {
    const { targetId } = session;
    if (targetId !== undefined) this.#leaving.set(targetId, Promise.withResolvers());
    return session.leave();
  }

  #sessionBegan(session: ChatSession, previousId: string | undefined): void {
    const { sessionId } = session;
    if (sessionId === undefined) return;
    if (previousId !== undefined) this.#router.remove(previousId, session);
    this.#router.add(sessionId, session);
    this.#panel.setFacts({ agent: { state: "ready" } });
    if (session !== this.#shown) return;
    this.#options.lastShown.set(sessionId);
    notify(this.#began);
  }

  #sessionClosed(session: ChatSession, isOpen: boolean): void {
    const { targetId: sessionId } = session;
    const leaving = sessionId === undefined ? undefined : this.#leaving.get(sessionId);
    if (sessionId !== undefined) this.#leaving.delete(sessionId);
    if (!isOpen) {
      this.#open.delete(session);
      if (sessionId !== undefined) {
        this.#router.remove(sessionId, session);
        this.#panel.setProcesses({ sessionId, processes: [] });
      }
    }
    leaving?.resolve();
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
