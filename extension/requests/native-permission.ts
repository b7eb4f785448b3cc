/**
 * A permission request as a notification. It never takes the focus, which a QuickPick or a modal would; and since a
 * notification cannot be closed by its extension, a click that comes after another answer does nothing.
 */
import type { PermissionOption, ToolCallUpdate } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type { PanelAnswer } from "./panel-answer.ts";

/** A notification shows about this much before it is cut. Characters. */
const SHOWN_CHARS = 300;

export type PermissionFacts = {
  readonly toolCall: ToolCallUpdate;
  readonly options: readonly PermissionOption[];
  readonly reasons: readonly string[];
  readonly command: string | undefined;
  readonly grant: string | undefined;
};

type Button = vscode.MessageItem & { readonly optionId: string | undefined };

/** Undefined when it was closed without an answer, or answered elsewhere first. */
export async function nativePermission(facts: PermissionFacts, over: AbortSignal): Promise<PanelAnswer | undefined> {
  const { toolCall, options, command } = facts;
  const what = command ?? toolCall.title ?? "a tool call";
  const details: Button = { title: "Show All", optionId: undefined };
  const buttons: Button[] = options.map(({ name: title, optionId }) => ({ title, optionId }));
  if (what.length > SHOWN_CHARS) buttons.unshift(details);
  const question = `Hermes asks: ${what.slice(0, SHOWN_CHARS)}${what.length > SHOWN_CHARS ? " …" : ""}`;
  over.addEventListener("abort", hideToasts, { once: true });
  const answer = await vscode.window.showWarningMessage([question, ...facts.reasons].join("\n"), ...buttons);
  if (over.aborted || answer === undefined) return undefined;
  if (answer.optionId !== undefined) return { kind: "option", optionId: answer.optionId };
  const document = await vscode.workspace.openTextDocument({
    content: what,
    language: command ? "shellscript" : "plaintext",
  });
  await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
  return nativePermission({ ...facts, command: "the command that is open in the editor" }, over);
}

/** An answered question must not go on covering the panel; it stays in the notification centre, without effect. */
function hideToasts(): void {
  vscode.commands.executeCommand("notifications.hideToasts").then(undefined, () => undefined); // it hides itself in time
}
