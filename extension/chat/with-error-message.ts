/** Reports in the editor that an action of the user failed. */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";

/** `failure` is the beginning of the message: `The session cannot be forked`. */
export async function withErrorMessage(failure: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    vscode.window.showErrorMessage(`${failure}: ${messageOf(error)}`);
  }
}
