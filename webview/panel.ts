/** The panel outside its views: wires the host's messages to the state, and owns the page and the draft. */
import { effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { HermesExtensionAction } from "../agent-core/protocol/extensions.ts";
import type { HostMessage, PanelCommand } from "../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../agent-core/protocol/panel-messages.ts";
import { attachFiles, attachFitting, MentionSearch } from "./attaching.ts";
import { Channel } from "./channel.ts";
import { PathLinks } from "./markdown/path-links.ts";
import { PanelMemory, type StateKeeper } from "./panel-memory.ts";
import { type Draft, emptyDraft, withText } from "./state/attachments.ts";
import { seesPictures } from "./state/config.ts";
import type { TaskRef } from "./state/delegation.ts";
import { attentionKey, needingAttention } from "./state/extensions.ts";
import { reduceAll, type StateEvent } from "./state/reduce.ts";
import { emptyState, type PanelState, type Route, withoutSession } from "./state/state.ts";
import type { SessionSearch } from "./state/workspace.ts";

/** Pause after the last key before a search starts. Milliseconds. */
const TYPING_PAUSE_MS = 150;

export type PanelHost = StateKeeper & { postMessage(message: PanelMessage): void };

export type PanelClock = {
  /** Milliseconds. */
  readonly now: () => number;
  /** Runs its argument before the next paint. */
  readonly nextFrame: (paint: () => void) => void;
};

/** Conversation of a sub-agent on the page. */
export type OpenTask = {
  readonly ref: TaskRef;
  /** Session of the sub-agent. */
  readonly child: string;
  readonly view: Panel;
};

export type PanelOptions = {
  /** The panel shows a conversation that its user cannot continue. */
  readonly isReadOnly?: boolean;
};

/** Messages that a read-only panel sends. */
const READER_MESSAGES: readonly PanelMessage["type"][] = [
  "open-review",
  "open-location",
  "open-link",
  "open-picture",
  "insert-text",
  "show-diagram",
  "apply-code",
];

export class Panel {
  readonly isReadOnly: boolean;
  readonly store: PanelStore;
  /** Clock of the state's times, in milliseconds. */
  readonly now: () => number;
  readonly memory: PanelMemory;
  readonly draft: Signal<Draft>;
  readonly mentions = new MentionSearch((message) => this.post(message));
  /** Links of the inline code in answers. */
  readonly paths = new PathLinks((paths) => this.post({ type: "check-paths", paths }));
  /** Increases with each request to focus the composer. */
  readonly composerFocus = signal(0);
  /** Counts the requests to search the conversation while the find bar is open; 0: it is closed. */
  readonly findRequests = signal(0);
  readonly #host: PanelHost;
  readonly #clock: PanelClock;
  readonly #channel: Channel;
  #task: OpenTask | undefined;
  /** Runs while the user types a search in the list of sessions. */
  #searchTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(host: PanelHost, clock: PanelClock, { isReadOnly = false }: PanelOptions = {}) {
    this.isReadOnly = isReadOnly;
    this.#host = host;
    this.#clock = clock;
    this.memory = new PanelMemory(host);
    this.draft = signal(this.memory.draft);
    this.now = clock.now;
    this.store = new PanelStore({ ...clock, onShown: () => this.#channel.acknowledge() });
    this.#channel = new Channel(this.post, (events, reset) => this.store.apply(events, reset));
    this.#go(this.memory.route);
    this.store.apply([{ kind: "extensions-seen", keys: this.memory.seenExtensions }]);
    effect(() => this.#remember());
  }

  /** Id of the session's event log. */
  get epoch(): string {
    return this.#channel.epoch;
  }

  /** Reports to the host that the panel runs. */
  start(): void {
    this.#channel.start();
    // The memory has the page that is on screen, and the one of before the reload is not yet.
    const { sessions, extensions } = this.store.state.route;
    if (sessions) this.#loadSessions();
    if (extensions) this.post({ type: "extensions-list" });
  }

  readonly post = (message: PanelMessage): void => this.#host.postMessage(message);

  receive(message: HostMessage): void {
    switch (message.type) {
      case "events":
        this.#channel.receive(message);
        break;
      case "ask-focus":
        this.post({ type: "has-focus", value: document.hasFocus() });
        break;
      case "facts":
      case "history":
      case "context":
      case "extension-acted":
        this.store.apply([message]);
        break;
      case "mentions":
        this.mentions.receive(message);
        break;
      case "task-events":
        if (this.#task?.child === message.child) this.#task.view.#showReplay(message);
        break;
      case "paths-checked":
        this.paths.answer(message.asked, message.existing);
        break;
      case "command":
        this.#run(message.command);
        this.post({ type: "command-done", id: message.id });
        break;
    }
  }

  write(text: string): void {
    this.draft.value = withText(this.draft.value, text);
  }

  /** Reads files into a draft: by default into the composer's, which gets the focus. */
  attachFiles(files: readonly File[], draft = this.draft): void {
    void attachFiles(draft, files, seesPictures(this.store.state.configOptions));
    if (draft === this.draft) this.composerFocus.value += 1;
  }

  /** Focuses the composer, with `text` inserted before the draft. */
  compose(text = ""): void {
    this.write([text, this.draft.value.text].filter((part) => part.trim() !== "").join("\n\n"));
    this.composerFocus.value += 1;
  }

  /** Removes a text that `compose` inserted, unless the user has changed it. */
  #withdraw(text: string): void {
    const draft = this.draft.value.text;
    if (draft === text) this.write("");
    else if (draft.startsWith(`${text}\n\n`)) this.write(draft.slice(text.length + 2));
  }

  /** Opens the find bar of the conversation shown. */
  find(): void {
    if (this.store.state.route.sessions) this.closeSessions();
    this.#go({ extensions: false, setup: false });
    const { entries, open } = this.store.state;
    if (this.#task !== undefined) this.#task.view.find();
    else if (entries.length > 0 || open !== undefined) this.findRequests.value += 1;
  }

  /** Opens the list of stored sessions and focuses its search. */
  showSessions(): void {
    const { route } = this.store.state;
    this.#go({ sessions: true, isOpening: false, searchFocus: route.searchFocus + 1 });
    if (!route.sessions) this.#loadSessions();
  }

  /** Changes the search in the list; the host gets it after a pause in typing. */
  searchSessions(search: Partial<SessionSearch>): void {
    this.store.apply([{ kind: "history-search", search }]);
    clearTimeout(this.#searchTimer);
    this.#searchTimer = setTimeout(() => this.#loadSessions(), TYPING_PAUSE_MS);
  }

  closeSessions(): void {
    clearTimeout(this.#searchTimer);
    this.#go({ sessions: false, isOpening: false });
    this.post({ type: "history-close" });
  }

  /** Opens the page of extensions. */
  showExtensions(): void {
    if (this.store.state.route.sessions) this.closeSessions();
    this.#go({ extensions: true });
    this.post({ type: "extensions-list" });
  }

  closeExtensions(): void {
    this.#go({ extensions: false });
    this.seeExtensions();
  }

  /** The sub-agent whose conversation is on the page. */
  get task(): OpenTask | undefined {
    return this.#task;
  }

  /** Opens the conversation of a sub-agent. `child`: its session. */
  openTask(ref: TaskRef, child: string): void {
    if (this.isReadOnly) return;
    const host: PanelHost = {
      getState: () => undefined,
      setState: () => undefined,
      postMessage: (message) => {
        if (message.type === "earlier") this.post({ type: "task-earlier", child, before: message.before });
        else if (READER_MESSAGES.includes(message.type)) this.post(message);
      },
    };
    this.#task = { ref, child, view: new Panel(host, this.#clock, { isReadOnly: true }) };
    this.#go({ task: ref });
    this.post({ type: "task-open", child });
  }

  /** Returns to the place where the user was reading. */
  closeTask(): void {
    this.#task = undefined;
    this.#go({ task: undefined });
  }

  #showReplay({ child, reset, events }: Extract<HostMessage, { type: "task-events" }>): void {
    const { agentName } = this.store.state;
    const begin = { kind: "session", sessionId: child, agentName, configOptions: [], commands: [] } as const;
    this.store.apply(reset ? [begin, ...events] : events, reset);
  }

  /** Marks the extensions that need attention as seen: the panel no longer points to them. */
  seeExtensions(): void {
    const keys = needingAttention(this.store.state).map(attentionKey);
    this.store.apply([{ kind: "extensions-seen", keys }]);
  }

  /** `argument`: name of a tool, to enable or disable it alone. */
  actOnExtension(id: string, action: HermesExtensionAction, argument?: string): void {
    this.store.apply([{ kind: "extension-asked", id }]);
    this.post({ type: "extension-act", id, action, ...(argument !== undefined && { argument }) });
  }

  /** Continues a stored session. The list stays open until the session begins. */
  openSession(sessionId: string): void {
    if (sessionId === this.store.state.sessionId) this.closeSessions();
    else {
      this.#go({ isOpening: true });
      this.post({ type: "session-open", sessionId });
    }
  }

  newSession(): void {
    this.#showConversation();
    this.post({ type: "new-session" });
  }

  #showConversation(): void {
    this.#go({ sessions: false, extensions: false, setup: false, task: undefined, isOpening: false });
  }

  closeSetup(): void {
    this.#go({ setup: false });
  }

  #run(command: PanelCommand): void {
    switch (command.kind) {
      case "compose": {
        const { text, attachments = [], refused = [] } = command;
        this.compose(text);
        void attachFitting(this.draft, { attachments, refused }, seesPictures(this.store.state.configOptions));
        break;
      }
      case "withdraw":
        this.#withdraw(command.text);
        break;
      case "give-draft": {
        const { text, attachments } = this.draft.value;
        this.post({ type: "draft", text, attachments });
        this.draft.value = emptyDraft;
        break;
      }
      case "new-session":
        this.#showConversation();
        this.compose();
        break;
      case "replace-session":
        this.post({ type: "new-session" });
        break;
      case "open-session":
        this.openSession(command.sessionId);
        break;
      case "show-sessions":
        this.showSessions();
        break;
      case "show-extensions":
        this.showExtensions();
        break;
      case "find":
        this.find();
        break;
      case "show-setup":
        this.#go({ setup: true });
        break;
    }
  }

  #go(route: Partial<Route>): void {
    this.store.apply([{ kind: "route", route }]);
  }

  #loadSessions(): void {
    clearTimeout(this.#searchTimer);
    const { query, everywhere, isArchive } = this.store.state.history;
    this.post({ type: "history-search", query, everywhere, isArchive });
  }

  /** Keeps the draft and the page for the time when the panel is hidden or reloaded. */
  #remember(): void {
    const { route, seenExtensions, sessionId = this.memory.sessionId } = this.store.shown.value;
    const { sessions, extensions, setup } = route;
    const { text: draft, attachments } = this.draft.value;
    this.memory.keep({ sessionId, draft, attachments, route: { sessions, extensions, setup }, seenExtensions });
  }
}

type StoreOptions = PanelClock & {
  /** Called when all applied events are on screen. */
  readonly onShown: () => void;
};

/** State of the panel: events change it at once, the screen follows at most once a frame. */
export class PanelStore {
  readonly #options: StoreOptions;
  readonly #shown: Signal<PanelState> = signal(emptyState);
  #state: PanelState = emptyState;
  #scheduled: boolean = false;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  get shown(): ReadonlySignal<PanelState> {
    return this.#shown;
  }

  /** The state with every event applied; `shown` follows with the next frame. */
  get state(): PanelState {
    return this.#state;
  }

  /** Applies events; `reset` drops the session of the state first. */
  apply(events: readonly StateEvent[], reset = false): void {
    const at = this.#options.now();
    this.#state = reduceAll(reset ? withoutSession(this.#state) : this.#state, events, at);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.nextFrame(() => this.#paint());
  }

  #paint(): void {
    this.#scheduled = false;
    this.#shown.value = this.#state;
    this.#options.onShown();
  }
}
