/** Writes a session into a file that the user chooses. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { type HermesExport, sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";

type Form = vscode.QuickPickItem & { readonly format: HermesExport["format"]; readonly extension: string };

const FORMS: readonly Form[] = [
  {
    label: "Markdown",
    description: vscode.l10n.t("To read: messages, tool calls, diffs"),
    format: "markdown",
    extension: "md",
  },
  { label: "JSON", description: vscode.l10n.t("Everything, for programs"), format: "json", extension: "json" },
];

/** Asks for the format and the file. Without effect when the user cancels. */
export async function exportSession(worker: AgentWorker, sessionId: string): Promise<void> {
  const form = await vscode.window.showQuickPick(FORMS, {
    title: vscode.l10n.t("Export Session"),
    placeHolder: vscode.l10n.t("Choose the format"),
  });
  if (form === undefined) return;
  const { format, extension, label } = form;
  const agent = await worker.agent();
  const { text, fileName } = await call(agent, sessionMethods.export, { sessionId, format });
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const uri = await vscode.window.showSaveDialog({
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, fileName) }),
    filters: { [label]: [extension] },
    saveLabel: vscode.l10n.t("Export"),
  });
  if (uri === undefined) return;
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  await vscode.window.showTextDocument(uri, { preview: false });
}
