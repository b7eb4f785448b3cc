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

/** Resolves to the button that the user chose; undefined when the notification was closed. */
export function showInformation<B extends Button>(text: string, ...buttons: readonly B[]): Promise<B | undefined> {
  return show("showInformationMessage", text, buttons);
}

export function showWarning<B extends Button>(text: string, ...buttons: readonly B[]): Promise<B | undefined> {
  return show("showWarningMessage", text, buttons);
}

export function showError<B extends Button>(text: string, ...buttons: readonly B[]): Promise<B | undefined> {
  return show("showErrorMessage", text, buttons);
}

async function show<B extends Button>(
  kind: "showInformationMessage" | "showWarningMessage" | "showErrorMessage",
  text: string,
  buttons: readonly B[],
): Promise<B | undefined> {
  const items = buttons.map((button) => ({ title: typeof button === "string" ? button : button.title, button }));
  return (await vscode.window[kind](linklessText(text), ...items))?.button;
}

/** `failure` is the beginning of the message: `The session cannot be forked`. */
export async function withErrorMessage(failure: string, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    void showError(`${failure}: ${messageOf(error)}`);
  }
}
