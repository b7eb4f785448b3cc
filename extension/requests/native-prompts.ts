/** Native prompts of VS Code: permission requests as notifications, questions as a QuickPick. */

import type { PermissionOption, ToolCallUpdate } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";

/**
 * Answer from the panel: an option with an optional reason for a refusal, or the text of an answer (null: no answer).
 */
export type RequestAnswer =
  | { readonly kind: "option"; readonly optionId: string; readonly reason?: string }
  | { readonly kind: "text"; readonly text: string | null };

/** Length after which VS Code cuts a notification, in characters. */
const SHOWN_CHARS = 300;

export type PermissionFacts = {
  readonly toolCall: ToolCallUpdate;
  readonly options: readonly PermissionOption[];
  readonly reasons: readonly string[];
  readonly command: string | undefined;
  readonly grant: string | undefined;
};

type Button = vscode.MessageItem & { readonly optionId: string | undefined };

/**
 * Shows a permission request as a notification, which never takes the focus as a QuickPick or a modal would. An
 * extension cannot close a notification, so a click after another answer is ignored. Undefined when the user closed it,
 * or answered elsewhere first.
 */
export async function nativePermission(
  facts: PermissionFacts,
  closed: AbortSignal,
): Promise<RequestAnswer | undefined> {
  const { toolCall, options, command } = facts;
  const subject = command ?? toolCall.title ?? "a tool call";
  const details: Button = { title: "Show All", optionId: undefined };
  const buttons: Button[] = options.map(({ name: title, optionId }) => ({ title, optionId }));
  if (subject.length > SHOWN_CHARS) buttons.unshift(details);
  const question = `Hermes asks: ${subject.slice(0, SHOWN_CHARS)}${subject.length > SHOWN_CHARS ? " …" : ""}`;
  closed.addEventListener("abort", hideToasts, { once: true });
  const answer = await vscode.window.showWarningMessage([question, ...facts.reasons].join("\n"), ...buttons);
  if (closed.aborted || answer === undefined) return undefined;
  if (answer.optionId !== undefined) return { kind: "option", optionId: answer.optionId };
  const document = await vscode.workspace.openTextDocument({
    content: subject,
    language: command ? "shellscript" : "plaintext",
  });
  await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
  return nativePermission({ ...facts, command: "the command that is open in the editor" }, closed);
}

/**
 * Hides an answered request, so that it does not cover the panel. It stays in the notification centre without effect.
 */
function hideToasts(): void {
  vscode.commands.executeCommand("notifications.hideToasts").then(undefined, () => undefined); // VS Code hides it later anyway
}

type Choice = vscode.QuickPickItem & { readonly answer: string };

/**
 * Shows a question as a QuickPick with its choices; the user may also type another answer. Undefined when the user
 * answered elsewhere. Closing it counts as no answer.
 */
export function nativeQuestion(
  message: string,
  choices: readonly string[],
  closed: AbortSignal,
): Promise<RequestAnswer | undefined> {
  const picker = vscode.window.createQuickPick<Choice>();
  const offered = choices.map((choice): Choice => ({ label: choice, answer: choice }));
  picker.title = message;
  picker.placeholder = choices.length > 0 ? "Choose, or type another answer" : "Type your answer";
  picker.ignoreFocusOut = true;
  picker.items = offered;
  return new Promise((resolve) => {
    const close = (): void => picker.hide();
    closed.addEventListener("abort", close, { once: true });
    picker.onDidChangeValue((typed) => {
      picker.items =
        typed.trim() === ""
          ? offered
          : [...offered, { label: typed, description: "your answer", answer: typed.trim(), alwaysShow: true }];
    });
    picker.onDidAccept(() => {
      const [chosen] = picker.selectedItems;
      resolve({ kind: "text", text: chosen?.answer ?? picker.value.trim() });
      picker.hide();
    });
    picker.onDidHide(() => {
      closed.removeEventListener("abort", close);
      picker.dispose();
      resolve(closed.aborted ? undefined : { kind: "text", text: null });
    });
    picker.show();
  });
}
