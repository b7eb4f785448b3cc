/** The shell of a session and what runs in the background of it, over the agent's life. */
import type { HostTerminals } from "../host/terminals/terminals.ts";
import type { Message } from "../messages/message.ts";
import { messageOf } from "../platform/errors.ts";
import { Processes } from "../tools/terminal/processes.ts";
import { SessionShell } from "../tools/terminal/session-shell.ts";
import type { ShellView } from "../tools/tool.ts";
import type { StatusEvent } from "./callbacks.ts";

export class AgentShell {
  readonly state: SessionShell;
  readonly processes = new Processes();
  readonly #terminals: HostTerminals;
  readonly #cwd: string;
  /** The history tells of a shell and of processes that are no more, and the model does not know. */
  #isForgotten: boolean;
  /** Settles when the place where commands run was reached for the first time, or could not be. */
  #opened: Promise<void> | undefined;

  /** `wasUsed`: the conversation that goes on has run commands before. */
  constructor(terminals: HostTerminals, cwd: string, wasUsed: boolean) {
    this.state = new SessionShell(cwd);
    this.#terminals = terminals;
    this.#cwd = cwd;
    this.#isForgotten = wasUsed;
  }

  get view(): ShellView {
    const { state, processes } = this;
    return {
      get folder() {
        return state.folder;
      },
      process: (id) => processes.find(id),
    };
  }

  /** Reaches the place where commands run, once. A place that cannot be reached is told; each command tries again. */
  open(signal: AbortSignal, tell: (event: StatusEvent) => void): Promise<void> {
    this.#opened ??= this.#open(signal, tell);
    return this.#opened;
  }

  /** What happened in the background since it was last asked, one line each. */
  async notices(): Promise<readonly string[]> {
    const lines = await this.processes.notices();
    if (!this.#isForgotten) return lines;
    this.#isForgotten = false;
    const { folder } = this.state;
    return [`[The session was opened again: the shell is in ${folder}, earlier processes have ended.]`, ...lines];
  }

  /** Ends what its commands have left running. */
  async dispose(): Promise<void> {
    await this.processes.dispose();
  }

  async #open(signal: AbortSignal, tell: (event: StatusEvent) => void): Promise<void> {
    try {
      this.state.begin(await this.#terminals.open(this.#cwd, signal));
    } catch (error) {
      // Not reached: no turn waits for it once more. Cancelled: the next turn does.
      if (signal.aborted) this.#opened = undefined;
      tell({ severity: "warning", message: messageOf(error) });
    }
  }
}

export function hasRunCommands(messages: readonly Message[]): boolean {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
  return calls.some((call) => call.function.name === "terminal");
}
