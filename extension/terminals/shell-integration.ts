/** Waiting for a terminal's shell to be one that tells VS Code of its commands, and which one that is. */
import { parse } from "node:path";
import * as vscode from "vscode";
import { waitForEvent } from "../../agent-core/platform/waiting.ts";

/** Shells that VS Code brings an integration for. */
const integrated: ReadonlySet<string> = new Set(["bash", "fish", "gitbash", "pwsh", "zsh"]);
/** Start-up files of such a shell may take their time, more so on a busy machine. */
const INTEGRATION_LIMIT_MS = 20_000;
/** Any other shell that has told nothing by then will tell nothing. */
const OTHERS_LIMIT_MS = 5_000;
/** With the first prompt comes the folder. */
const FOLDER_LIMIT_MS = 1_000;

/** Resolves with whether the shell takes commands; when it does, its folder is known where the shell tells it. */
export async function shellIntegration(terminal: vscode.Terminal): Promise<boolean> {
  const limitMs = isEnabled() && integrated.has(shellKind(terminal) ?? "") ? INTEGRATION_LIMIT_MS : OTHERS_LIMIT_MS;
  await changed(terminal, limitMs, () => terminal.shellIntegration !== undefined);
  if (terminal.shellIntegration === undefined) return false;
  await changed(terminal, FOLDER_LIMIT_MS, () => terminal.shellIntegration?.cwd !== undefined);
  return terminal.exitStatus === undefined;
}

/**
 * `bash`, `zsh`, `fish`, `pwsh` or another name, of a terminal that was opened just now: VS Code goes by the program in
 * front, which may be one that a start-up file runs.
 */
export function shellKind({ state }: vscode.Terminal): string | undefined {
  const path = parse(vscode.env.shell).name;
  return [state.shell, path].find((name) => name !== undefined && integrated.has(name)) ?? state.shell ?? path;
}

/** Resolves when the condition holds, the terminal was closed, or the time is over. */
async function changed(terminal: vscode.Terminal, limitMs: number, holds: () => boolean): Promise<void> {
  if (holds() || terminal.exitStatus !== undefined) return;
  await waitForEvent(limitMs, (done) => [
    vscode.window.onDidChangeTerminalShellIntegration(() => holds() && done()),
    vscode.window.onDidCloseTerminal((closed) => closed === terminal && done()),
  ]);
}

function isEnabled(): boolean {
  return vscode.workspace.getConfiguration("terminal.integrated").get<boolean>("shellIntegration.enabled") !== false;
}
