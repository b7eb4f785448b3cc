/** A real terminal of VS Code with the user's own shell, in which commands of one session run one after the other. */
import { randomUUID } from "node:crypto";
import { readlink, realpath } from "node:fs/promises";
import { resolve as normalized } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import {
  isInFront,
  killTree,
  livingMembers,
  MARKER_VARIABLE,
} from "../../agent-core/platform/children/process-tree.ts";
import { QUIET_ENVIRONMENT } from "../../agent-core/platform/children/start-child.ts";
import { Deadline } from "../../agent-core/platform/deadline.ts";
import { waitForEvent } from "../../agent-core/platform/waiting.ts";
import { shellIntegration, shellKind } from "./shell-integration.ts";
import { changeFolderLine, preparingLine, TELLS_FIRST_ONLY } from "./typed-line.ts";

/** A line that the shell has not begun by then is none that it will begin. */
const START_LIMIT_MS = 10_000;
/** The shell tells of its folder up to this long after a command's end. */
const FOLDER_TOLD_MS = 200;
/** A program that the prompt itself runs has the terminal no longer than this. */
const PROMPT_MS = 1_000;
const POLL_MS = 20;
/** Closing is told of by then. */
const CLOSE_LIMIT_MS = 2_000;

const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/**
 * `exitCode` is undefined when the shell did not tell it; `toldAs` is what it ran where that is not the line as it was
 * typed: of such a line the beginning of the output may be lost.
 */
export type Ending =
  | { readonly kind: "ended"; readonly exitCode: number | undefined; readonly toldAs?: string }
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
  readonly env: UserShellOptions["env"];
  /** `bash`, `zsh`, `fish`; as it was first: VS Code goes by the program in front, which changes with every command. */
  kind: string | undefined;
  /** Its commands are told of as they are typed, with all that is behind the first one. */
  tellsWhole = true as boolean;
  readonly #marker: string;
  readonly #running = new Set<vscode.TerminalShellExecution>();
  readonly #watches: readonly vscode.Disposable[];
  #endedAt = 0;
  /** A command of the agent has it. */
  isTaken = true as boolean;

  /** Undefined when the shell has no integration with VS Code; its terminal is closed again then. */
  static async open(options: UserShellOptions): Promise<UserShell | undefined> {
    const { folder, env, marker } = options;
    const terminal = vscode.window.createTerminal({
      name: "Hermes",
      iconPath: new vscode.ThemeIcon("sparkle"),
      isTransient: true,
      ...(folder !== undefined && { cwd: folder }),
      env: { ...QUIET_ENVIRONMENT, ...env, [MARKER_VARIABLE]: marker },
    });
    const shell = new UserShell(terminal, options);
    if (await shellIntegration(terminal)) {
      shell.kind = shellKind(terminal);
      return shell;
    }
    await shell.close();
    return undefined;
  }

  private constructor(terminal: vscode.Terminal, { sessionId, env, marker }: UserShellOptions) {
    this.terminal = terminal;
    this.sessionId = sessionId;
    this.env = env;
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

  /** Whether what is typed reaches the shell. A program may run that VS Code was told nothing of, or that it has ended. */
  async isAtPrompt(): Promise<boolean> {
    const pid = await this.terminal.processId;
    const deadline = new Deadline(PROMPT_MS);
    while (pid !== undefined && !this.isClosed && !(await isInFront(pid))) {
      if (deadline.hasPassed()) return false;
      await delay(POLL_MS);
    }
    return !this.isClosed;
  }

  /** Takes from it what its start-up files have set of the variables that it was not to have; false when it kept one. */
  async prepare(): Promise<boolean> {
    const names = Object.keys(this.env).filter((name) => this.env[name] === null && VARIABLE_NAME.test(name));
    const line = preparingLine(names, this.kind);
    if (line === "") return true;
    const { exitCode } = await this.execute(line).ending;
    if (exitCode === TELLS_FIRST_ONLY) this.tellsWhole = false;
    return exitCode === 0 || exitCode === TELLS_FIRST_ONLY;
  }

  /** Goes to the folder where the shell is not known to be there; false when it could not. */
  async enter(folder: string): Promise<boolean> {
    const current = await this.folder();
    const isThere = current !== undefined && normalized(current) === normalized(folder);
    return isThere || this.#does(changeFolderLine(folder, this.kind));
  }

  /** Where it stands while nothing runs in it; undefined where that is not known. */
  async folder(): Promise<string | undefined> {
    if (await this.#isWhereItTold()) return this.#toldFolder;
    await delay(Math.max(0, this.#endedAt + FOLDER_TOLD_MS - performance.now()));
    const seen = await this.#seenFolder();
    return seen === undefined || (await this.#isWhereItTold()) ? this.#toldFolder : seen;
  }

  /** With the symbolic links in it by which the shell got there. */
  get #toldFolder(): string | undefined {
    return this.isClosed ? undefined : this.terminal.shellIntegration?.cwd?.fsPath;
  }

  /** Without them; on Linux. */
  async #seenFolder(): Promise<string | undefined> {
    return readlink(`/proc/${await this.terminal.processId}/cwd`).catch(() => undefined);
  }

  /** What it tells comes some time after what it does. */
  async #isWhereItTold(): Promise<boolean> {
    const told = this.#toldFolder;
    return told !== undefined && (await realpath(told).catch(() => undefined)) === (await this.#seenFolder());
  }

  /** Whether a line of ours was carried out. A shell that does not begin it is closed: what it does is not known. */
  async #does(line: string): Promise<boolean> {
    const { kind, exitCode } = await this.execute(line).ending;
    if (kind === "never-begun") await this.close();
    return exitCode === 0;
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
    let more: { readonly toldAs?: string } = {};
    const watches = [
      vscode.window.onDidStartTerminalShellExecution((started) => {
        if (started.terminal !== terminal || hasBegun || isWipedOut(started.execution.commandLine.value)) return;
        hasBegun = true;
        clearTimeout(limit);
        // A shell that names the line otherwise than it was typed gets another execution for it.
        execution = started.execution;
        // It may be what the user has begun to type, with ours behind it: VS Code wipes out only what it has seen.
        if (execution !== typed) more = { toldAs: execution.commandLine.value };
        begin(typedData !== undefined && execution === typed ? typedData : execution.read());
      }),
      vscode.window.onDidEndTerminalShellExecution((ended) => {
        if (ended.execution === execution) end({ kind: "ended", exitCode: ended.exitCode, ...more });
      }),
      vscode.window.onDidCloseTerminal((closed) => {
        if (closed === terminal) end({ kind: "closed", exitCode: ownExitCode(closed) });
      }),
    ];
    void ending.then((how) => {
      if (how.kind === "ended" && how.toldAs !== undefined) this.tellsWhole = false;
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

/** What the user had only begun to type, and VS Code wiped out for a line of ours, is told of as if it ran. */
function isWipedOut(line: string): boolean {
  return line === "" || line.endsWith("^C");
}

/** A shell that has ended by itself (`exit 3`) tells the code; one whose terminal was closed does not. */
function ownExitCode({ exitStatus }: vscode.Terminal): number | undefined {
  return exitStatus?.reason === vscode.TerminalExitReason.Process ? exitStatus.code : undefined;
}

async function whenClosed(terminal: vscode.Terminal): Promise<void> {
  if (terminal.exitStatus !== undefined) return;
  await waitForEvent(CLOSE_LIMIT_MS, (done) => [
    vscode.window.onDidCloseTerminal((closed) => closed === terminal && done()),
  ]);
}

async function* nothing(): AsyncGenerator<string> {
  // It never began.
}
