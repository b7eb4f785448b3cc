/** The host's end of the connection to one panel: facts of the workspace, one-shot commands, and its session's log. */
import { randomUUID } from "node:crypto";
import type { HostMessage, PanelCommand, WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
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

  /** Reaches only a page that runs: it has asked, or asks anew when it comes back. */
  post(message: Exclude<HostMessage, { type: "events" | "facts" | "ask-focus" | "command" }>): void {
    this.#post?.(message);
  }

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
