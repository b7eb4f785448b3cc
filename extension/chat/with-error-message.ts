/** Says in the editor why something that the user asked for could not be done. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";

/** `what` is the beginning of the message: `The session cannot be forked`. */
export async function told(what: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const why = messageOf(error);
    vscode.window.showErrorMessage(`${what}: ${why}`);
  }
}
