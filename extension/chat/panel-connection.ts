/** The host's end of the connection to the panel: facts of the workspace, one-shot commands, and the session's log. */
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

export class PanelConnection {
  #log: EventLog | undefined;
  #facts: WorkspaceFacts;
  /** Commands that no panel has run yet. */
  #commands: readonly QueuedCommand[] = [];
  /** Undefined while no panel runs. */
  #post: ((message: HostMessage) => void) | undefined;
  readonly #sightChanged = new Set<() => void>();

  constructor(isTrusted: boolean) {
    this.#facts = {
      agent: { state: "starting" },
      isTrusted,
      review: [],
      undone: 0,
      background: [],
      processes: [],
      extensions: [],
      suggested: [],
      isSuggesting: true,
      setup: null,
      folder: "open",
      start: null,
    };
  }

  get facts(): WorkspaceFacts {
    return this.#facts;
  }

  /** True while a panel is visible and shows the session of this log. */
  isShowing(log: EventLog | undefined): boolean {
    return this.#post !== undefined && log !== undefined && log === this.#log;
  }

  /** The panel was shown or hidden, or shows another session. */
  onDidChangeSight(listener: () => void): void {
    this.#sightChanged.add(listener);
  }

  setFacts(changed: Partial<WorkspaceFacts>): void {
    this.#facts = { ...this.#facts, ...changed };
    this.#post?.({ type: "facts", facts: this.#facts });
  }

  /** Replaces the background processes of one session. */
  setProcesses({ sessionId, processes }: WorkspaceFacts["processes"][number]): void {
    const others = this.#facts.processes.filter((entry) => entry.sessionId !== sessionId);
    this.setFacts({ processes: processes.length === 0 ? others : [...others, { sessionId, processes }] });
  }

  /** Replaces the extensions of one session. */
  setExtensions({ sessionId, items }: WorkspaceFacts["extensions"][number]): void {
    const others = this.#facts.extensions.filter((entry) => entry.sessionId !== sessionId);
    this.setFacts({ extensions: items.length === 0 ? others : [...others, { sessionId, items }] });
  }

  /** Sends a command; it stays queued until a panel has run it. */
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

  /** Reaches only a panel that runs: the search was the panel's. */
  mentions(found: Omit<Extract<HostMessage, { type: "mentions" }>, "type">): void {
    this.#post?.({ type: "mentions", ...found });
  }

  /** Reaches only a panel that runs: a new panel shows no conversation of a sub-agent. */
  taskEvents(message: Extract<HostMessage, { type: "task-events" }>): void {
    this.#post?.(message);
  }

  /** Shows the session of this log. */
  show(log: EventLog): void {
    this.#log?.detach();
    this.#log = log;
    if (this.#post !== undefined) log.attach(this.#post, "", 0);
    this.#fireSightChanged();
  }

  /** The panel's script runs and has the events below `next` of `epoch`. */
  attach(post: (message: HostMessage) => void, epoch: string, next: number): void {
    this.#post = post;
    post({ type: "facts", facts: this.#facts });
    this.#log?.attach(post, epoch, next);
    for (const queued of this.#commands) post(queued);
    this.#fireSightChanged();
  }

  /** The panel is closed or hidden. Events and commands are kept for the next one. */
  detach(): void {
    this.#post = undefined;
    this.#log?.detach();
    this.#fireSightChanged();
  }

  acknowledge(epoch: string, next: number): void {
    this.#log?.acknowledge(epoch, next);
  }

  commandDone(id: string): void {
    this.#commands = this.#commands.filter((queued) => queued.id !== id);
  }

  #fireSightChanged(): void {
    for (const listener of this.#sightChanged) listener();
  }
}
