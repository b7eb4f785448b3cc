/** Terminal of VS Code with the user's own shell, in which commands of one session run one after the other. */
import { randomUUID } from "node:crypto";
import { readlink, realpath } from "node:fs/promises";
import { resolve as normalized, parse } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import {
  isInFront,
  killTree,
  livingMembers,
  MARKER_VARIABLE,
} from "../../agent-core/platform/children/process-tree.ts";
import { UNATTENDED_ENVIRONMENT } from "../../agent-core/platform/children/start-child.ts";
import { Deadline, waitForEvent } from "../../agent-core/platform/deadline.ts";
import { changeFolderLine, preparingLine, REPORTS_FIRST_ONLY } from "./typed-line.ts";

/** Timeout for the start of a typed line. */
const START_LIMIT_MS = 10_000;
/** Time after a command's end in which the shell reports its folder. */
const FOLDER_REPORT_MS = 200;
/** Time for programs that the prompt itself runs. */
const PROMPT_MS = 1_000;
/**
 * Time after a shell's start in which VS Code takes a failing exit for a fault of its integration: it then starts a shell
 * without integration in the same terminal, and reports neither an end nor a closing.
 */
const LAUNCH_MS = 500;
const POLL_MS = 20;
/** Timeout of closing a terminal. */
const CLOSE_LIMIT_MS = 2_000;

/** Shells with an integration in VS Code. */
const integrated: ReadonlySet<string> = new Set(["bash", "fish", "gitbash", "pwsh", "zsh"]);
/** Timeout for such a shell, whose start-up files can be slow. */
const INTEGRATION_LIMIT_MS = 20_000;
/** Timeout for any other shell. */
const OTHERS_LIMIT_MS = 5_000;
/** Timeout for the folder, which comes with the first prompt. */
const FOLDER_LIMIT_MS = 1_000;

const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/**
 * `exitCode` is undefined when the shell did not report it. `reportedAs` is the line that the shell reports instead of the
 * typed one; the beginning of its output may be lost.
 */
export type Ending =
  | { readonly kind: "ended"; readonly exitCode: number | undefined; readonly reportedAs?: string }
  | { readonly kind: "closed"; readonly exitCode: number | undefined }
  | { readonly kind: "never-begun"; readonly exitCode: undefined };

export type Execution = {
  /** Output of the terminal while the line ran, with the shell's marks; empty for a line that never began. */
  readonly data: Promise<AsyncIterable<string>>;
  readonly ending: Promise<Ending>;
};

export type UserShellOptions = {
  readonly sessionId: string;
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string | null>>;
  /** Marks all processes of the shell. */
  readonly marker: string;
};

export class UserShell {
  readonly terminal: vscode.Terminal;
  readonly sessionId: string;
  readonly env: UserShellOptions["env"];
  /** `bash`, `zsh`, `fish`: the first value, because VS Code later reports the program in the foreground. */
  kind: string | undefined;
  /** True while the shell reports lines as typed, with all their commands. */
  reportsWholeLine: boolean = true;
  readonly #marker: string;
  readonly #running = new Set<vscode.TerminalShellExecution>();
  readonly #watches: readonly vscode.Disposable[];
  /** Resolves after VS Code's launch time. */
  readonly #launched: Promise<void>;
  #endedAt = 0;
  /** True while a command of the agent uses the shell. */
  isTaken: boolean = true;

  /** Undefined when the shell has no integration with VS Code; the terminal is closed then. */
  static async open(options: UserShellOptions): Promise<UserShell | undefined> {
    const { folder, env, marker } = options;
    const terminal = vscode.window.createTerminal({
      name: "Hermes",
      iconPath: new vscode.ThemeIcon("sparkle"),
      isTransient: true,
      ...(folder !== undefined && { cwd: folder }),
      env: { ...UNATTENDED_ENVIRONMENT, ...env, [MARKER_VARIABLE]: marker },
    });
    const shell = new UserShell(terminal, options);
    if (await waitForIntegration(terminal)) {
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
    this.#launched = Promise.resolve(terminal.processId).then(() => delay(LAUNCH_MS));
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

  /** True when neither the agent nor the user runs anything in the shell. */
  get isIdle(): boolean {
    return !this.isTaken && this.#running.size === 0 && !this.isClosed;
  }

  /** True when typed text reaches the shell, and not a program that VS Code has not noticed. */
  async isAtPrompt(): Promise<boolean> {
    const pid = await this.terminal.processId;
    const deadline = new Deadline(PROMPT_MS);
    while (pid !== undefined && !this.isClosed && !(await isInFront(pid))) {
      if (deadline.hasPassed()) return false;
      await delay(POLL_MS);
    }
    return !this.isClosed;
  }

  /** Prepares a new shell for commands. False when the shell ended, or when a withheld variable could not be unset. */
  async prepare(): Promise<boolean> {
    const isUnset = await this.#unsetWithheld();
    await this.#launched;
    return isUnset && !this.isClosed;
  }

  /** Unsets withheld variables that the start-up files have set. */
  async #unsetWithheld(): Promise<boolean> {
    const names = Object.keys(this.env).filter((name) => this.env[name] === null && VARIABLE_NAME.test(name));
    const line = preparingLine(names, this.kind);
    if (line === "") return true;
    const { exitCode } = await this.execute(line).ending;
    if (exitCode === REPORTS_FIRST_ONLY) this.reportsWholeLine = false;
    return exitCode === 0 || exitCode === REPORTS_FIRST_ONLY;
  }

  /** Changes to the folder, unless the shell is there; false when that fails. */
  async enter(folder: string): Promise<boolean> {
    const current = await this.folder();
    const isThere = current !== undefined && normalized(current) === normalized(folder);
    return isThere || this.#run(changeFolderLine(folder, this.kind));
  }

  /** Current folder while nothing runs; undefined when it is unknown. */
  async folder(): Promise<string | undefined> {
    if (await this.#isReportCurrent()) return this.#reportedFolder;
    await delay(Math.max(0, this.#endedAt + FOLDER_REPORT_MS - performance.now()));
    const seen = await this.#seenFolder();
    return seen === undefined || (await this.#isReportCurrent()) ? this.#reportedFolder : seen;
  }

  /** Folder by the shell's report, with its symbolic links. */
  get #reportedFolder(): string | undefined {
    return this.isClosed ? undefined : this.terminal.shellIntegration?.cwd?.fsPath;
  }

  /** Folder by the system, without symbolic links; on Linux only. */
  async #seenFolder(): Promise<string | undefined> {
    return readlink(`/proc/${await this.terminal.processId}/cwd`).catch(() => undefined);
  }

  /** False while the shell has not reported its latest folder yet. */
  async #isReportCurrent(): Promise<boolean> {
    const reported = this.#reportedFolder;
    return reported !== undefined && (await realpath(reported).catch(() => undefined)) === (await this.#seenFolder());
  }

  /** Runs a line; true on success. A shell that does not begin the line is closed, because its state is unknown. */
  async #run(line: string): Promise<boolean> {
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
    // Read at once: a short command ends before its start is reported.
    const typedData = typed?.read();
    let execution = typed;
    let hasBegun: boolean = false;
    let more: { readonly reportedAs?: string } = {};
    const watches = [
      vscode.window.onDidStartTerminalShellExecution((started) => {
        if (started.terminal !== terminal || hasBegun || isErased(started.execution.commandLine.value)) return;
        hasBegun = true;
        clearTimeout(limit);
        // A shell that reports another line than the typed one gets another execution.
        execution = started.execution;
        // The line may begin with text that the user typed: VS Code erases only the text it knows.
        const reported = execution.commandLine.value;
        if (execution !== typed && !isWrapOf(reported, line)) more = { reportedAs: reported };
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
      if (how.kind === "ended" && how.reportedAs !== undefined) this.reportsWholeLine = false;
      clearTimeout(limit);
      for (const watch of watches) watch.dispose();
      begin(nothing());
    });
    if (typed === undefined) end({ kind: "closed", exitCode: undefined });
    return { data, ending };
  }

  /** Process ids of the shell and of all processes in it. */
  async processes(): Promise<ReadonlySet<number>> {
    const pid = await this.terminal.processId;
    const members = pid === undefined ? [] : await livingMembers({ pid, marker: this.#marker });
    return new Set(members.map((member) => member.pid));
  }

  /** Ends the process trees that are not in `before`. */
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

/** True for the same line as it stands on the screen, from where VS Code may read it: fish itself breaks a long one. */
function isWrapOf(reported: string, line: string): boolean {
  return reported.replace(/\s/g, "") === line.replace(/\s/g, "");
}

/** VS Code reports the start of a line that the user typed and that it erased for ours. */
function isErased(line: string): boolean {
  return line === "" || line.endsWith("^C");
}

/** Exit code of a shell that ended by itself (`exit 3`), not of a closed terminal. */
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
  // The line never began.
}

/** Waits for the shell's integration and folder; true when the shell takes commands. */
async function waitForIntegration(terminal: vscode.Terminal): Promise<boolean> {
  const limitMs = isEnabled() && integrated.has(shellKind(terminal) ?? "") ? INTEGRATION_LIMIT_MS : OTHERS_LIMIT_MS;
  await waitUntil(terminal, limitMs, () => terminal.shellIntegration !== undefined);
  if (terminal.shellIntegration === undefined) return false;
  await waitUntil(terminal, FOLDER_LIMIT_MS, () => terminal.shellIntegration?.cwd !== undefined);
  return terminal.exitStatus === undefined;
}

/**
 * `bash`, `zsh`, `fish`, `pwsh` or another name, for a new terminal. VS Code reports the program in the foreground, which
 * can be one of a start-up file.
 */
function shellKind({ state }: vscode.Terminal): string | undefined {
  const path = parse(vscode.env.shell).name;
  return [state.shell, path].find((name) => name !== undefined && integrated.has(name)) ?? state.shell ?? path;
}

/** Resolves when the condition holds, the terminal closes, or the time is over. */
async function waitUntil(terminal: vscode.Terminal, limitMs: number, holds: () => boolean): Promise<void> {
  if (holds() || terminal.exitStatus !== undefined) return;
  await waitForEvent(limitMs, (done) => [
    vscode.window.onDidChangeTerminalShellIntegration(() => holds() && done()),
    vscode.window.onDidCloseTerminal((closed) => closed === terminal && done()),
  ]);
}

function isEnabled(): boolean {
  return vscode.workspace.getConfiguration("terminal.integrated").get<boolean>("shellIntegration.enabled") !== false;
}
