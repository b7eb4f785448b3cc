/** A real terminal of VS Code with the user's own shell, in which commands of one session run one after the other. */
import { randomUUID } from "node:crypto";
import { resolve as normalized, parse } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { killTree, livingMembers, MARKER_VARIABLE } from "../../agent-core/host/children/process-tree.ts";
import { QUIET_ENVIRONMENT } from "../../agent-core/host/children/start-child.ts";
import { shellIntegration } from "./shell-integration.ts";
import { changeFolderLine } from "./typed-line.ts";

/** A line that the shell has not begun by then is none that it will begin. */
const START_LIMIT_MS = 10_000;
/** The shell tells of its folder up to this long after a command's end. */
const FOLDER_TOLD_MS = 200;
/** Closing is told of by then. */
const CLOSE_LIMIT_MS = 2_000;

/** `exitCode` is undefined when the shell did not tell it. */
export type Ending =
  | { readonly kind: "ended"; readonly exitCode: number | undefined }
  | { readonly kind: "closed"; readonly exitCode: number | undefined }
  | { readonly kind: "never-begun"; readonly exitCode: undefined };

export type Execution = {
  /** All that the terminal got while it ran, marks of the shell included; empty when it never began. */
  readonly data: Promise<AsyncIterable<string>>;
  readonly ending: Promise<Ending>;
};

export type UserShellOptions = {
  readonly sessionId: string;
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string | null>>;
  /** Marks all that the shell starts. */
  readonly marker: string;
};

export class UserShell {
  readonly terminal: vscode.Terminal;
  readonly sessionId: string;
  /** `bash`, `zsh`, `fish`; as it was first: VS Code goes by the program in front, which changes with every command. */
  kind: string | undefined;
  readonly #marker: string;
  readonly #running = new Set<vscode.TerminalShellExecution>();
  readonly #watches: readonly vscode.Disposable[];
  #endedAt = 0;
  /** A command of the agent has it. */
  isTaken = true as boolean;

  /** Undefined when the shell has no integration with VS Code; its terminal is closed again then. */
  static async open({ sessionId, folder, env, marker }: UserShellOptions): Promise<UserShell | undefined> {
    const terminal = vscode.window.createTerminal({
      name: "Hermes",
      iconPath: new vscode.ThemeIcon("sparkle"),
      isTransient: true,
      ...(folder !== undefined && { cwd: folder }),
      env: { ...QUIET_ENVIRONMENT, ...env, [MARKER_VARIABLE]: marker },
    });
    const shell = new UserShell(terminal, sessionId, marker);
    if (await shellIntegration(terminal)) {
      shell.kind = terminal.state.shell ?? parse(vscode.env.shell).name;
      return shell;
    }
    await shell.close();
    return undefined;
  }

  private constructor(terminal: vscode.Terminal, sessionId: string, marker: string) {
    this.terminal = terminal;
    this.sessionId = sessionId;
    this.#marker = marker;
    this.#watches = [
      vscode.window.onDidStartTerminalShellExecution(({ terminal: where, execution }) => {
        if (where === terminal) this.#running.add(execution);
      }),
      vscode.window.onDidEndTerminalShellExecution(({ terminal: where, execution }) => {
        if (where !== terminal) return;
        this.#running.delete(execution);
        this.#endedAt = performance.now();
      }),
    ];
  }

  get isClosed(): boolean {
    return this.terminal.exitStatus !== undefined;
  }

  /** Nothing runs in it, neither the agent's nor the user's. */
  get isIdle(): boolean {
    return !this.isTaken && this.#running.size === 0 && !this.isClosed;
  }

  /** Goes to the folder where the shell is not there yet; false when it could not. */
  async enter(folder: string): Promise<boolean> {
    await delay(Math.max(0, this.#endedAt + FOLDER_TOLD_MS - performance.now()));
    const current = this.terminal.shellIntegration?.cwd?.fsPath;
    if (current !== undefined && normalized(current) === normalized(folder)) return true;
    const { ending } = this.execute(changeFolderLine(folder, this.kind));
    return (await ending).exitCode === 0;
  }

  /** Types a line at the prompt. */
  execute(line: string): Execution {
    const { terminal } = this;
    const { promise: data, resolve: begin } = Promise.withResolvers<AsyncIterable<string>>();
    const { promise: ending, resolve: end } = Promise.withResolvers<Ending>();
    const limit = setTimeout(() => end({ kind: "never-begun", exitCode: undefined }), START_LIMIT_MS);
    const typed = this.isClosed ? undefined : terminal.shellIntegration?.executeCommand(line);
    // At once: a short command is over by the time that its beginning is told of.
    const typedData = typed?.read();
    let execution = typed;
    let hasBegun = false as boolean;
    const watches = [
      vscode.window.onDidStartTerminalShellExecution((started) => {
        if (started.terminal !== terminal || hasBegun) return;
        hasBegun = true;
        clearTimeout(limit);
        // A shell that names the line otherwise than it was typed gets another execution for it.
        execution = started.execution;
        begin(typedData !== undefined && execution === typed ? typedData : execution.read());
      }),
      vscode.window.onDidEndTerminalShellExecution((ended) => {
        if (ended.execution === execution) end({ kind: "ended", exitCode: ended.exitCode });
      }),
      vscode.window.onDidCloseTerminal((closed) => {
        if (closed === terminal) end({ kind: "closed", exitCode: ownExitCode(closed) });
      }),
    ];
    void ending.then(() => {
      clearTimeout(limit);
      for (const watch of watches) watch.dispose();
      begin(nothing());
    });
    if (typed === undefined) end({ kind: "closed", exitCode: undefined });
    return { data, ending };
  }

  /** Ids of the processes that it has now, itself included. */
  async processes(): Promise<ReadonlySet<number>> {
    const pid = await this.terminal.processId;
    const members = pid === undefined ? [] : await livingMembers({ pid, marker: this.#marker });
    return new Set(members.map((member) => member.pid));
  }

  /** Ends the processes that it did not have `before`, with what they started. */
  async endSince(before: ReadonlySet<number>): Promise<void> {
    const since = [...(await this.processes())].filter((pid) => !before.has(pid));
    await Promise.all(since.map((pid) => killTree({ pid, marker: randomUUID() })));
  }

  /** Closes the terminal and ends all that runs in it. */
  async close(): Promise<void> {
    const pid = await this.terminal.processId;
    for (const watch of this.#watches) watch.dispose();
    const closed = whenClosed(this.terminal);
    this.terminal.dispose();
    if (pid !== undefined) await killTree({ pid, marker: this.#marker });
    await closed;
  }
}

/** A shell that has ended by itself (`exit 3`) tells the code; one whose terminal was closed does not. */
function ownExitCode({ exitStatus }: vscode.Terminal): number | undefined {
  return exitStatus?.reason === vscode.TerminalExitReason.Process ? exitStatus.code : undefined;
}

function whenClosed(terminal: vscode.Terminal): Promise<void> {
  if (terminal.exitStatus !== undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(limit);
      watch.dispose();
      resolve();
    };
    const limit = setTimeout(done, CLOSE_LIMIT_MS);
    const watch = vscode.window.onDidCloseTerminal((closed) => closed === terminal && done());
  });
}

async function* nothing(): AsyncGenerator<string> {
  // It never began.
}
