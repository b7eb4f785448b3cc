/** The shell of a session and its background processes. */
import { join } from "node:path";
import type { HostTerminals } from "../host/terminals/terminals.ts";
import { callsOf, type Message } from "../messages/message.ts";
import { messageOf } from "../platform/errors.ts";
import { newId } from "../platform/new-id.ts";
import type { HermesCommandEnd } from "../protocol/trajectory.ts";
import { Processes } from "../tools/terminal/processes.ts";
import { SessionShell } from "../tools/terminal/session-shell.ts";
import type { ShellView } from "../tools/tool.ts";
import type { Policy } from "./approvals.ts";
import type { StatusEvent } from "./callbacks.ts";

type ShellPlace = {
  readonly terminals: HostTerminals;
  readonly cwd: string;
  /** For the output of commands, absolute. */
  readonly folder: string;
  /** The resumed conversation has run commands before. */
  readonly wasUsed: boolean;
  /** Returns the address of the browser's page. */
  readonly page: () => string | undefined;
};

export class AgentShell {
  readonly state: SessionShell;
  readonly processes = new Processes();
  readonly #place: ShellPlace;
  /** True while the history mentions an ended shell and the model has not been informed. */
  #mustInform: boolean;
  /** Sentences from the end of the last turn, for the model. */
  readonly #late: string[] = [];
  /** Settles after the first attempt to reach the place that runs commands. */
  #opened: Promise<void> | undefined;

  constructor(place: ShellPlace) {
    this.state = new SessionShell(place.cwd);
    this.#place = place;
    this.#mustInform = place.wasUsed;
  }

  get view(): ShellView {
    const { state, processes } = this;
    const { page } = this.#place;
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
  async notices({ hideSecrets }: Policy): Promise<readonly string[]> {
    const processes = await this.processes.notices(hideSecrets);
    const changes = [...this.#late.splice(0), ...((await this.#place.terminals.inspectLiving?.()) ?? [])];
    const lines = [...processes, ...changes.map((change) => `[${change}]`)];
    if (!this.#mustInform) return lines;
    this.#mustInform = false;
    const { folder } = this.state;
    return [`[The session was resumed: the shell is in ${folder}, and earlier processes have ended.]`, ...lines];
  }

  /** Reports changes of protected files by processes that outlive the turn: to the user, and with the next notices. */
  async endTurn(notify: (message: string) => void): Promise<void> {
    for (const message of (await this.#place.terminals.endTurn?.()) ?? []) {
      notify(message);
      this.#late.push(message);
    }
  }

  /**
   * Runs a command of the session's client in the sandbox of the agent's own, if there is one, and ends what it left. Rejects
   * with a sentence for people when it cannot be started.
   */
  async runForClient(command: string, signal: AbortSignal): Promise<HermesCommandEnd> {
    const running = await this.#place.terminals.start(
      {
        command,
        shell: { folder: await this.#place.terminals.open(this.#place.cwd, signal), variables: undefined },
        keepsShell: false,
        input: "none",
        pty: false,
        sandbox: this.#place.terminals.sandboxes === true ? "isolated" : undefined,
        outputFile: join(this.#place.folder, `command-${newId()}.log`),
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
      this.state.begin(await this.#place.terminals.open(this.#place.cwd, signal));
    } catch (error) {
      // After a failure no turn waits again. After a cancel the next turn tries again.
      if (signal.aborted) this.#opened = undefined;
      notify({ severity: "warning", message: messageOf(error) });
    }
  }
}

export function hasRunCommands(messages: readonly Message[]): boolean {
  return messages.flatMap(callsOf).some((call) => call.function.name === "terminal");
}
