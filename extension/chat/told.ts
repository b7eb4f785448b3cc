/** Says in the editor why something that the user asked for could not be done. */
import * as vscode from "vscode";

/** `what` is the beginning of the message: `The session cannot be forked`. */
export async function told(what: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    vscode.window.showErrorMessage(`${what}: ${why}`);
  }
}
