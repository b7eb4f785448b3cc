/** The host's end of the connection to one panel: facts of the workspace, one-shot commands, and its session's log. */
import { randomUUID } from "node:crypto";
import type {
  ExtensionActed,
  HistoryUpdate,
  HostMessage,
  PanelCommand,
  WorkspaceFacts,
} from "../../agent-core/protocol/panel-events.ts";
import type { EventLog } from "./event-log.ts";

type QueuedCommand = Extract<HostMessage, { type: "command" }>;

export type ConnectionPorts = {
  readonly facts: () => WorkspaceFacts;
  /** The panel was shown or hidden, or shows another session. */
  readonly sightChanged: () => void;
};

export class PanelConnection {
  readonly #ports: ConnectionPorts;
  #log: EventLog | undefined;
  /** Commands that the panel has not run yet. */
  #commands: readonly QueuedCommand[] = [];
  /** Undefined while the panel's script does not run. */
  #post: ((message: HostMessage) => void) | undefined;

  /** Questions about the focus that the page has not answered yet; it answers in order. */
  #focusAsked: readonly ((hasFocus: boolean) => void)[] = [];

  constructor(ports: ConnectionPorts) {
    this.#ports = ports;
  }

  /** True while the user can see the panel. */
  get isVisible(): boolean {
    return this.#post !== undefined;
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

  /** Reaches only a panel that runs: a new panel asks for the list by itself. */
  history(update: HistoryUpdate): void {
    this.#post?.({ type: "history", update });
  }

  /** Reaches only a panel that runs: the outcome of an earlier action is of no use to a new one. */
  extensionActed(acted: ExtensionActed): void {
    this.#post?.({ type: "extension-acted", acted });
  }

  /** Reaches only a panel that runs, whose page shows the contents of the window. */
  context(sessionId: string, context: Extract<HostMessage, { type: "context" }>["context"]): void {
    this.#post?.({ type: "context", sessionId, context });
  }

  /** Reaches only a panel that runs: the search was the panel's. */
  mentions(found: Omit<Extract<HostMessage, { type: "mentions" }>, "type">): void {
    this.#post?.({ type: "mentions", ...found });
  }

  /** Reaches only a panel that runs: a new panel shows no conversation of a sub-agent. */
  taskEvents(message: Extract<HostMessage, { type: "task-events" }>): void {
    this.#post?.(message);
  }

  /** Reaches only a panel that runs, whose answers have the paths. */
  pathsChecked(asked: readonly string[], existing: readonly string[]): void {
    this.#post?.({ type: "paths-checked", asked, existing });
  }

  /** Shows the session of this log. */
  show(log: EventLog): void {
    if (this.#post !== undefined) this.#log?.detach(this.#post);
    this.#log = log;
    if (this.#post !== undefined) log.attach(this.#post, "", 0);
    this.#ports.sightChanged();
  }

  /** Connects the panel, which has all events below `next` of `epoch`. */
  attach(post: (message: HostMessage) => void, epoch: string, next: number): void {
    this.#pageGone();
    this.#post = post;
    this.sendFacts();
    this.#log?.attach(post, epoch, next);
    for (const queued of this.#commands) post(queued);
    this.#ports.sightChanged();
  }

  /** Disconnects a closed or hidden panel. Events and commands are kept for the next one. */
  detach(): void {
    if (this.#post === undefined) return;
    this.#log?.detach(this.#post);
    this.#post = undefined;
    this.#pageGone();
    this.#ports.sightChanged();
  }

  #pageGone(): void {
    while (this.#focusAsked.length > 0) this.focusAnswered(false);
  }

  acknowledge(epoch: string, next: number): void {
    this.#log?.acknowledge(epoch, next);
  }

  commandDone(id: string): void {
    this.#commands = this.#commands.filter((queued) => queued.id !== id);
  }
}
