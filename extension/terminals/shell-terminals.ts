/** The terminals with the user's own shell: which one a command runs in, and why it cannot. */
import type { CreateTerminalRequest } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { Guard } from "../../agent-core/host/children/guard.ts";
import { startInShell } from "./shell-command.ts";
import type { CommandSink, ShownCommand } from "./shown-command.ts";
import type { TerminalRequest } from "./terminal-request.ts";
import { typedLine } from "./typed-line.ts";
import { UserShell } from "./user-shell.ts";

/** Running, or a sentence why it has to run otherwise; undefined where nobody need be told. */
export type ShellOutcome =
  | { readonly ok: true; readonly command: ShownCommand }
  | { readonly ok: false; readonly reason: string | undefined };

const NO_INTEGRATION =
  "Your shell has no shell integration with VS Code: the command runs in a terminal of Hermes' own instead";

export class ShellTerminals implements vscode.Disposable {
  readonly #shells = new Set<UserShell>();
  readonly #warn: (message: string) => void;
  readonly #watches: readonly vscode.Disposable[];
  readonly #guard = new Guard();
  /** Found out once, until the settings of terminals change: nobody waits for it with every command. */
  #lacksIntegration = false as boolean;

  /** `warn` writes to the output channel. */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
    this.#watches = [
      vscode.window.onDidCloseTerminal((closed) => {
        for (const shell of this.#shells) if (shell.terminal === closed) this.#shells.delete(shell);
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("terminal.integrated") || change.affectsConfiguration("hermes.terminal")) {
          this.#lacksIntegration = false;
        }
      }),
    ];
  }

  /** Rejects when the output cannot be stored. */
  async run(request: CreateTerminalRequest, details: TerminalRequest, sink: CommandSink): Promise<ShellOutcome> {
    const { userShell, outputFile } = details;
    if (userShell === undefined || !isAskedFor()) return { ok: false, reason: undefined };
    const shell = await this.#take(request, userShell.env);
    if (shell === undefined) return { ok: false, reason: NO_INTEGRATION };
    const line = typedLine(userShell.line, shell.kind);
    const reason = line === undefined ? "This command cannot be typed at a prompt" : await whyNotThere(shell, request);
    if (line === undefined || reason !== undefined) {
      shell.isTaken = false;
      return { ok: false, reason: `${reason}: it runs in a terminal of Hermes' own` };
    }
    return { ok: true, command: await startInShell(shell, line, outputFile, sink) };
  }

  /** Closes them with all that runs there; resolves when nothing of it is left. */
  async endAll(): Promise<void> {
    const shells = [...this.#shells];
    this.#shells.clear();
    await Promise.all(shells.map((shell) => shell.close()));
  }

  dispose(): void {
    for (const watch of this.#watches) watch.dispose();
    void this.endAll();
  }

  /** An idle one of the session, else a new one. */
  async #take(
    { sessionId, cwd }: CreateTerminalRequest,
    env: Readonly<Record<string, string | null>>,
  ): Promise<UserShell | undefined> {
    const idle = [...this.#shells].find((shell) => shell.sessionId === sessionId && shell.isIdle);
    if (idle !== undefined) {
      idle.isTaken = true;
      return idle;
    }
    if (this.#lacksIntegration) return undefined;
    const shell = await UserShell.open({ sessionId, folder: cwd ?? undefined, env, marker: this.#guard.mark() });
    if (shell === undefined) {
      if (!this.#lacksIntegration) this.#warn(`${NO_INTEGRATION}. See terminal.integrated.shellIntegration.enabled.`);
      this.#lacksIntegration = true;
      return undefined;
    }
    this.#shells.add(shell);
    return shell;
  }
}

function isAskedFor(): boolean {
  return vscode.workspace.getConfiguration("hermes").get<string>("terminal.runIn") === "shell";
}

/** Approved for one folder, it runs in no other. */
async function whyNotThere(shell: UserShell, { cwd }: CreateTerminalRequest): Promise<string | undefined> {
  if (cwd == null || (await shell.enter(cwd))) return undefined;
  return `Your shell could not go to ${cwd}`;
}
