/** Panels of the window: the side bar's view and any number of editor tabs. Each shows one session. */
import { randomUUID } from "node:crypto";
import * as vscode from "vscode";
import { Deadline } from "../../agent-core/platform/deadline.ts";
import { INITIAL_FACTS } from "../../agent-core/protocol/initial-facts.ts";
import type { HostMessage, PanelCommand, WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import type { ChatSession } from "./chat-session.ts";
import { contentOf, type PromptContent } from "./prompt-queue.ts";

type SessionOfPanel = Pick<ChatSession, "log">;

/** Timeout of a page that does not answer because it is about to close; others answer at once. Milliseconds. */
const DRAFT_MS = 5_000;

/** Shows a panel to the user, with the keyboard focus. */
type Reveal = () => unknown;

type QueuedCommand = Extract<HostMessage, { type: "command" }>;

type PanelPorts = {
  readonly facts: () => WorkspaceFacts;
  /** The panel was shown or hidden, or shows another session. */
  readonly sightChanged: () => void;
};

/** The host's end of one panel: its session, facts of the workspace, and one-shot commands. */
export class ChatPanel {
  readonly place: "side-bar" | "tab";
  readonly reveal: Reveal;
  readonly #ports: PanelPorts;
  #shown: ChatSession | undefined;
  #takeDraft: ((draft: PromptContent) => void) | undefined;
  /** Commands that the panel has not run yet. */
  #commands: readonly QueuedCommand[] = [];
  /** Undefined while the panel's script does not run. */
  #post: ((message: HostMessage) => void) | undefined;
  /** Questions about the focus that the page has not answered yet; it answers in order. */
  #focusAsked: readonly ((hasFocus: boolean) => void)[] = [];

  constructor(place: ChatPanel["place"], reveal: Reveal, ports: PanelPorts) {
    this.place = place;
    this.reveal = reveal;
    this.#ports = ports;
  }

  /** The session in the panel. @throws before the first `show`. */
  get shown(): ChatSession {
    if (this.#shown === undefined) throw new Error(vscode.l10n.t("The panel shows no session yet."));
    return this.#shown;
  }

  /** Id of the session in the panel. @throws an Error for the user while it is not open. */
  get openSessionId(): string {
    const { sessionId } = this.shown;
    if (sessionId === undefined) throw new Error(vscode.l10n.t("no session is open"));
    return sessionId;
  }

  /** True while the user can see the panel. */
  get isVisible(): boolean {
    return this.#post !== undefined;
  }

  isShowing(session: SessionOfPanel): boolean {
    return session === this.#shown;
  }

  /** Takes the unsent message out of the composer. Undefined while the page does not run, or does not answer. */
  async takeDraft(): Promise<PromptContent | undefined> {
    if (!this.isVisible) return undefined;
    const { promise, resolve } = Promise.withResolvers<PromptContent>();
    this.#takeDraft = resolve;
    this.command({ kind: "give-draft" });
    return (await new Deadline(DRAFT_MS).waitFor(promise)) ? promise : undefined;
  }

  /** Receives the unsent message of the page. */
  draftTaken(draft: PromptContent): void {
    this.#takeDraft?.(draft);
  }

  /** Puts an unsent message into the composer. */
  giveDraft(draft: PromptContent): void {
    this.command({ kind: "compose", ...contentOf(draft) });
  }

  sendFacts(): void {
    this.#post?.({ type: "facts", facts: this.#ports.facts() });
  }

  /** Asks the page for the keyboard focus; a slow answer is about its own moment. False without a page. */
  hasFocus(): Promise<boolean> {
    if (this.#post === undefined) return Promise.resolve(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#focusAsked = [...this.#focusAsked, resolve];
    this.#post({ type: "ask-focus" });
    return promise;
  }

  focusAnswered(hasFocus: boolean): void {
    const [answered, ...rest] = this.#focusAsked;
    this.#focusAsked = rest;
    answered?.(hasFocus);
  }

  /** Sends a command; it stays queued until the panel has run it. */
  command(command: PanelCommand): void {
    const queued: QueuedCommand = { type: "command", id: randomUUID(), command };
    this.#commands = [...this.#commands, queued];
    this.#post?.(queued);
  }

  commandDone(id: string): void {
    this.#commands = this.#commands.filter((queued) => queued.id !== id);
  }

  /** Reaches only a page that runs: it has asked, or asks anew when it comes back. */
  post(message: Exclude<HostMessage, { type: "events" | "facts" | "ask-focus" | "command" }>): void {
    this.#post?.(message);
  }

  /** Returns the session that it showed before. */
  show(session: ChatSession): ChatSession | undefined {
    const before = this.#shown;
    this.#shown = session;
    if (this.#post !== undefined) {
      before?.log.detach(this.#post);
      session.log.attach(this.#post, "", 0);
    }
    this.#ports.sightChanged();
    return before;
  }

  /** Connects the page, which has all events below `next` of `epoch`. */
  attach(post: (message: HostMessage) => void, epoch: string, next: number): void {
    this.#pageGone();
    this.#post = post;
    this.sendFacts();
    this.#shown?.log.attach(post, epoch, next);
    for (const queued of this.#commands) post(queued);
    this.#ports.sightChanged();
  }

  /** Disconnects a closed or hidden page. Events and commands are kept for the next one. */
  detach(): void {
    if (this.#post === undefined) return;
    this.#shown?.log.detach(this.#post);
    this.#post = undefined;
    this.#pageGone();
    this.#ports.sightChanged();
  }

  acknowledge(epoch: string, next: number): void {
    this.#shown?.log.acknowledge(epoch, next);
  }

  #pageGone(): void {
    while (this.#focusAsked.length > 0) this.focusAnswered(false);
  }
}

export class Panels {
  readonly sideBar: ChatPanel;
  readonly #all = new Set<ChatPanel>();
  readonly #sightChanged = new vscode.EventEmitter<void>();
  readonly #gotFocus = new vscode.EventEmitter<void>();
  #facts: WorkspaceFacts;
  #active: ChatPanel;

  /** A panel was shown, hidden, or used after another one, or shows another session. */
  readonly onDidChangeSight = this.#sightChanged.event;

  /** The user moved the keyboard focus into a panel. */
  readonly onDidFocus = this.#gotFocus.event;

  /** `revealSideBar` opens the side bar with the view. */
  constructor(isTrusted: boolean, revealSideBar: Reveal) {
    this.#facts = { ...INITIAL_FACTS, isTrusted };
    this.sideBar = this.add("side-bar", revealSideBar);
    this.#active = this.sideBar;
  }

  /** The panel that the user used last. */
  get active(): ChatPanel {
    return this.#active;
  }

  set active(panel: ChatPanel) {
    if (this.#active === panel || !this.#all.has(panel)) return;
    this.#active = panel;
    this.#sightChanged.fire();
  }

  /** Facts of the workspace, the same in all panels. */
  get facts(): WorkspaceFacts {
    return this.#facts;
  }

  focused(panel: ChatPanel): void {
    this.active = panel;
    this.#gotFocus.fire();
  }

  /** True when the keyboard focus is in a panel, by the answer of its page: events of other editors may come late. */
  async haveFocus(): Promise<boolean> {
    const answers = await Promise.all([...this.#all].map((panel) => panel.hasFocus()));
    return answers.includes(true);
  }

  /** The tab was closed. */
  removeTab(tab: ChatPanel): void {
    this.#all.delete(tab);
    if (this.#active === tab) this.#active = this.sideBar;
    tab.detach();
  }

  /** The panel that shows the session, also while the user cannot see that panel. */
  showing(session: SessionOfPanel | undefined): ChatPanel | undefined {
    return session && [...this.#all].find((panel) => panel.isShowing(session));
  }

  /** True while the user sees the session. */
  isInSight(session: SessionOfPanel | undefined): boolean {
    return this.showing(session)?.isVisible === true;
  }

  /** True while the user sees any panel, whose lines name what happens in other sessions. */
  get isAnyInSight(): boolean {
    return [...this.#all].some(({ isVisible }) => isVisible);
  }

  setFacts(changed: Partial<WorkspaceFacts>): void {
    this.#facts = { ...this.#facts, ...changed };
    for (const panel of this.#all) panel.sendFacts();
  }

  /** Replaces the background processes of one session. */
  setProcesses({ sessionId, processes }: WorkspaceFacts["processes"][number]): void {
    const others = this.#facts.processes.filter((entry) => entry.sessionId !== sessionId);
    this.setFacts({ processes: processes.length === 0 ? others : [...others, { sessionId, processes }] });
  }

  setExtensions({ sessionId, items }: WorkspaceFacts["extensions"][number]): void {
    const others = this.#facts.extensions.filter((entry) => entry.sessionId !== sessionId);
    this.setFacts({ extensions: items.length === 0 ? others : [...others, { sessionId, items }] });
  }

  /** Sends a command to the panel that the user used last. */
  command(command: PanelCommand): void {
    this.#active.command(command);
  }

  add(place: ChatPanel["place"], reveal: Reveal): ChatPanel {
    const ports = { facts: () => this.#facts, sightChanged: () => this.#sightChanged.fire() };
    const panel = new ChatPanel(place, reveal, ports);
    this.#all.add(panel);
    return panel;
  }
}
