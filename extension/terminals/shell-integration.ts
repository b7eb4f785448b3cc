/** Waiting for a terminal's shell to be one that tells VS Code of its commands. */
import * as vscode from "vscode";

/** A shell that has told nothing by then has no integration. */
const INTEGRATION_LIMIT_MS = 5_000;
/** With the first prompt comes the folder. */
const FOLDER_LIMIT_MS = 1_000;

/** Resolves with whether the shell takes commands; when it does, its folder is known where the shell tells it. */
export async function shellIntegration(terminal: vscode.Terminal): Promise<boolean> {
  await changed(terminal, INTEGRATION_LIMIT_MS, () => terminal.shellIntegration !== undefined);
  if (terminal.shellIntegration === undefined) return false;
  await changed(terminal, FOLDER_LIMIT_MS, () => terminal.shellIntegration?.cwd !== undefined);
  return terminal.exitStatus === undefined;
}

/** Resolves when the condition holds, the terminal was closed, or the time is over. */
function changed(terminal: vscode.Terminal, limitMs: number, holds: () => boolean): Promise<void> {
  if (holds()) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(limit);
      for (const watch of watches) watch.dispose();
      resolve();
    };
    const limit = setTimeout(done, limitMs);
    const watches = [
      vscode.window.onDidChangeTerminalShellIntegration(() => holds() && done()),
      vscode.window.onDidCloseTerminal((closed) => closed === terminal && done()),
    ];
  });
}
