/** The shell of a session and its background processes. */
import { join } from "node:path";
import type { HostTerminals } from "../host/terminals/terminals.ts";
import type { Message } from "../messages/message.ts";
import { messageOf } from "../platform/errors.ts";
import { newId } from "../platform/new-id.ts";
import type { HermesCommandEnd } from "../protocol/trajectory.ts";
import { Processes } from "../tools/terminal/processes.ts";
import { SessionShell } from "../tools/terminal/session-shell.ts";
import type { ShellView } from "../tools/tool.ts";
import type { StatusEvent } from "./callbacks.ts";

export class AgentShell {
  readonly state: SessionShell;
  readonly processes = new Processes();
  readonly #terminals: HostTerminals;
  readonly #cwd: string;
  readonly #page: () => string | undefined;
  /** True while the history mentions an ended shell and the model has not been informed. */
  #mustInform: boolean;
  /** Sentences from the end of the last turn, for the model. */
  readonly #late: string[] = [];
  /** Settles after the first attempt to reach the place that runs commands. */
  #opened: Promise<void> | undefined;

  /** `wasUsed`: the resumed conversation has run commands before. `page`: returns the address of the browser's page. */
  constructor(terminals: HostTerminals, cwd: string, wasUsed: boolean, page: () => string | undefined) {
    this.state = new SessionShell(cwd);
    this.#terminals = terminals;
    this.#page = page;
    this.#cwd = cwd;
    this.#mustInform = wasUsed;
  }

  get view(): ShellView {
    const { state, processes } = this;
    const page = this.#page;
    return {
      get folder() {
        return state.folder;
      },
      get variables() {
        return state.variables;
      },
      process: (id) => processes.find(id),
      get page() {
        return page();
      },
    };
  }

  /** Connects to the place that runs commands, once. Shows a warning when that fails; each command tries again. */
  open(signal: AbortSignal, notify: (event: StatusEvent) => void): Promise<void> {
    this.#opened ??= this.#open(signal, notify);
    return this.#opened;
  }

  /** Notes about background events since the last call, one line each. */
  async notices(): Promise<readonly string[]> {
    const processes = await this.processes.notices();
    const changes = [...this.#late.splice(0), ...((await this.#terminals.inspectLiving?.()) ?? [])];
    const lines = [...processes, ...changes.map((change) => `[${change}]`)];
    if (!this.#mustInform) return lines;
    this.#mustInform = false;
    const { folder } = this.state;
    return [`[The session was resumed: the shell is in ${folder}, and earlier processes have ended.]`, ...lines];
  }

  /** Reports changes of protected files by processes that outlive the turn: to the user, and with the next notices. */
  async endTurn(notify: (message: string) => void): Promise<void> {
    for (const message of (await this.#terminals.endTurn?.()) ?? []) {
      notify(message);
      this.#late.push(message);
    }
  }

  /**
   * Runs a command of the client in the sandbox of the agent's own, if there is one, and ends what it left. `folder`:
   * absolute, for its output.
   */
  async runForClient(command: string, folder: string, signal: AbortSignal): Promise<HermesCommandEnd> {
    const running = await this.#terminals.start(
      {
        command,
        shell: { folder: await this.#terminals.open(this.#cwd, signal), variables: undefined },
        keepsShell: false,
        input: "none",
        pty: false,
        sandbox: this.#terminals.sandboxes === true ? "isolated" : undefined,
        outputFile: join(folder, `command-${newId()}.log`),
      },
      signal,
    );
    const stop = (): void => void running.kill();
    signal.addEventListener("abort", stop, { once: true });
    try {
      const { exitCode } = await running.exit;
      const { head, tail } = await running.output();
      return { exitCode, output: head + tail };
    } finally {
      signal.removeEventListener("abort", stop);
      await running.kill();
      await running.release();
    }
  }

  /** Ends all processes that commands have started. */
  async dispose(): Promise<void> {
    await this.processes.dispose();
  }

  async #open(signal: AbortSignal, notify: (event: StatusEvent) => void): Promise<void> {
    try {
      this.state.begin(await this.#terminals.open(this.#cwd, signal));
    } catch (error) {
      // After a failure no turn waits again. After a cancel the next turn tries again.
      if (signal.aborted) this.#opened = undefined;
      notify({ severity: "warning", message: messageOf(error) });
    }
  }
}

export function hasRunCommands(messages: readonly Message[]): boolean {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
  return calls.some((call) => call.function.name === "terminal");
}
