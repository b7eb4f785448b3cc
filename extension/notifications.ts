/**
 * Notifications of the editor. VS Code reads their text as Markdown links, and such a link may run any command with a
 * click. Their texts have words of models, files, services and web pages, so every link is taken apart here.
 */
import * as vscode from "vscode";
import { messageOf } from "../agent-core/platform/errors.ts";
import { visibleText } from "../agent-core/platform/visible-text.ts";

type Button = string | vscode.MessageItem;

/** The text without links, and with its invisible characters as code points. */
export function linklessText(text: string): string {
  return visibleText(text).replaceAll("](", "] (");
}

/** Resolve to the button that the user chose; undefined when the notification was closed. */
export const showInformation = shower("showInformationMessage");
export const showWarning = shower("showWarningMessage");
export const showError = shower("showErrorMessage");

function shower(kind: "showInformationMessage" | "showWarningMessage" | "showErrorMessage") {
  return async <B extends Button>(text: string, ...buttons: readonly B[]): Promise<B | undefined> => {
    const items = buttons.map((button) => ({ title: typeof button === "string" ? button : button.title, button }));
    return (await vscode.window[kind](linklessText(text), ...items))?.button;
  };
}

type Work<Result> = (signal: AbortSignal, progress: vscode.Progress<{ message: string }>) => Promise<Result>;

/** Shows a notification while the work goes on. The signal is aborted when the user cancels it. */
export async function withProgress<Result>(title: string, work: Work<Result>, cancellable = false): Promise<Result> {
  const place = { location: vscode.ProgressLocation.Notification, title, cancellable };
  return vscode.window.withProgress(place, async (progress, token) => {
    const cancelled = new AbortController();
    const subscription = token.onCancellationRequested(() => cancelled.abort());
    return work(cancelled.signal, progress).finally(() => subscription.dispose());
  });
}

/** `failure` is the beginning of the message: `The session cannot be forked`. */
export async function withErrorMessage(failure: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    void showError(`${failure}: ${messageOf(error)}`);
  }
}
