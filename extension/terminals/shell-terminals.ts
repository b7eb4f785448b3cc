/** Terminals with the user's own shell: chooses one for a command, or gives the reason against it. */
import { isDeepStrictEqual } from "node:util";
import type { CreateTerminalRequest } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { guard } from "../../agent-core/platform/children/guard.ts";
import type { HermesUserShell } from "../../agent-core/protocol/processes.ts";
import { startInShell } from "./shell-command.ts";
import type { CommandSink, ShownCommand, TerminalRequest } from "./shown-command.ts";
import { typedLine } from "./typed-line.ts";
import { UserShell } from "./user-shell.ts";

/** Running command, or a sentence why it must run elsewhere; undefined when that is not news for the user. */
export type ShellOutcome =
  | { readonly ok: true; readonly command: ShownCommand }
  | { readonly ok: false; readonly reason: string | undefined };

const NO_INTEGRATION = vscode.l10n.t(
  "Your shell has no shell integration with VS Code, so this command runs in Hermes' own terminal",
);

const NOT_PREPARED = vscode.l10n.t(
  "Hermes could not remove its API keys from your shell, so this command runs in Hermes' own terminal",
);

export class ShellTerminals implements vscode.Disposable {
  readonly #shells = new Set<UserShell>();
  readonly #warn: (message: string) => void;
  readonly #watches: readonly vscode.Disposable[];
  /** Reason why the user's shell takes no command; valid until the settings of terminals change. */
  #hindrance: string | undefined;
  /** Number of calls of `endAll`. */
  #endings = 0;

  /** `warn` writes to the output channel. */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
    this.#watches = [
      vscode.window.onDidCloseTerminal((closed) => {
        for (const shell of this.#shells) if (shell.terminal === closed) this.#shells.delete(shell);
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("terminal.integrated") || change.affectsConfiguration("hermes.terminal")) {
          this.#hindrance = undefined;
        }
      }),
    ];
  }

  /** Rejects when the output cannot be stored. */
  async run(request: CreateTerminalRequest, details: TerminalRequest, sink: CommandSink): Promise<ShellOutcome> {
    const { userShell, outputFile } = details;
    if (userShell === undefined || !isAskedFor()) return { ok: false, reason: undefined };
    const shell = await this.#take(request, userShell.env);
    if (typeof shell === "string") return { ok: false, reason: shell };
    let outcome: ShellOutcome | undefined;
    try {
      outcome = await start(shell, request, { userShell, outputFile }, sink);
      return outcome;
    } finally {
      if (outcome?.ok !== true) shell.isTaken = false;
    }
  }

  /** Closes all shells; resolves when no process of them is left. */
  async endAll(): Promise<void> {
    this.#endings += 1;
    const shells = [...this.#shells];
    this.#shells.clear();
    await Promise.all(shells.map((shell) => shell.close()));
  }

  dispose(): void {
    for (const watch of this.#watches) watch.dispose();
    void this.endAll();
  }

  /** Idle shell of the session, or a new one; a sentence when there is none. */
  async #take({ sessionId, cwd }: CreateTerminalRequest, env: UserShell["env"]): Promise<UserShell | string> {
    const ofSession = [...this.#shells].filter(
      (shell) => shell.sessionId === sessionId && isDeepStrictEqual(shell.env, env),
    );
    for (const shell of ofSession) {
      if (!shell.isIdle) continue;
      shell.isTaken = true;
      if (await shell.isAtPrompt()) return shell;
      shell.isTaken = false;
    }
    if (this.#hindrance !== undefined) return this.#hindrance;
    const endings = this.#endings;
    const shell = await UserShell.open({ sessionId, folder: cwd ?? undefined, env, marker: guard.mark() });
    if (shell === undefined) return this.#hindered(NO_INTEGRATION);
    if (endings !== this.#endings) {
      await shell.close();
      throw new Error("The command was not started: all commands were being stopped.");
    }
    this.#shells.add(shell);
    if (await shell.prepare()) return shell;
    if (shell.isClosed) {
      return vscode.l10n.t("The terminal of your shell was closed, so this command runs in Hermes' own terminal");
    }
    await shell.close();
    return this.#hindered(NOT_PREPARED);
  }

  #hindered(reason: string): string {
    if (this.#hindrance !== reason)
      this.#warn(vscode.l10n.t("{0}. See terminal.integrated.shellIntegration.enabled.", reason));
    this.#hindrance = reason;
    return reason;
  }
}

type Started = { readonly userShell: HermesUserShell; readonly outputFile: string | undefined };

/** Starts the command in a shell that is taken for it. */
async function start(
  shell: UserShell,
  request: CreateTerminalRequest,
  { userShell, outputFile }: Started,
  sink: CommandSink,
): Promise<ShellOutcome> {
  const line = typedLine(userShell, shell);
  if (line === undefined) {
    const { kind } = shell;
    const reason =
      kind === undefined
        ? vscode.l10n.t("This command cannot be typed into your shell unchanged, so it runs in Hermes' own terminal")
        : vscode.l10n.t("This command cannot be typed into {0} unchanged, so it runs in Hermes' own terminal", kind);
    return { ok: false, reason };
  }
  // A command runs only in the folder that it was approved for.
  if (request.cwd != null && !(await shell.enter(request.cwd))) {
    const reason = vscode.l10n.t(
      "Your shell could not change to {0}, so this command runs in Hermes' own terminal",
      request.cwd,
    );
    return { ok: false, reason };
  }
  return { ok: true, command: await startInShell(shell, line, outputFile, sink) };
}

function isAskedFor(): boolean {
  return vscode.workspace.getConfiguration("hermes").get<string>("terminal.runIn") === "shell";
}
