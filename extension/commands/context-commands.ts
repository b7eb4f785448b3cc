/** Commands that attach something to the next message: from the Explorer, editors, tabs and terminals. */
import * as vscode from "vscode";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import { attachFiles } from "../context/attach-files.ts";
import { editorAttachment } from "../context/suggestion.ts";
import type { Services } from "../services.ts";
import { showPanel } from "./show-panel.ts";

/** Attaches the selection of the active editor, else its file. */
export async function askSelection(services: Services): Promise<void> {
  const attachment = editorAttachment();
  if (attachment !== undefined) await attach(services, [attachment]);
}

/**
 * Attaches the resources of a menu, and those selected with them in the Explorer. In an editor's menu a selection of text
 * takes their place; so it does for the palette, which passes no resource.
 */
export async function addToHermes(services: Services, clicked?: unknown, selected?: unknown): Promise<void> {
  const uris = Array.isArray(selected) ? selected.filter((uri) => uri instanceof vscode.Uri) : [];
  const uri = clicked instanceof vscode.Uri ? clicked : vscode.window.activeTextEditor?.document.uri;
  const inEditor = editorAttachment();
  const isSelection = inEditor?.kind === "lines" && uri?.toString() === inEditor.uri;
  if (uris.length === 0 && isSelection) return attach(services, [inEditor]);
  const files = uris.length > 0 ? uris : [uri].filter((one) => one !== undefined);
  const { attachments, refused } = await attachFiles(files, { within: false });
  if (attachments.length > 0) await attach(services, attachments);
  if (refused.length > 0) vscode.window.showWarningMessage(`Hermes: ${refused.join(" ")}`);
}

/** Attaches the selection of the active terminal, else the output of its last command. */
export async function addTerminalToHermes(services: Services): Promise<void> {
  const terminal = vscode.window.activeTerminal;
  if (terminal === undefined) return;
  const { name } = terminal;
  const text = await selectedInTerminal();
  const attachment: Attachment =
    text === ""
      ? { kind: "terminal", label: vscode.l10n.t("Terminal: {0}", name), name }
      : { kind: "text", label: vscode.l10n.t("Selection of {0}", name), text };
  await attach(services, [attachment]);
}

/** VS Code's API has no selection of terminals: it is copied, and the clipboard gets its text back. */
async function selectedInTerminal(): Promise<string> {
  const { clipboard } = vscode.env;
  const before = await clipboard.readText();
  await clipboard.writeText("");
  try {
    await vscode.commands.executeCommand("workbench.action.terminal.copySelection");
    return (await clipboard.readText()).trim();
  } finally {
    await clipboard.writeText(before);
  }
}

async function attach(services: Services, attachments: readonly Attachment[]): Promise<void> {
  await showPanel(services, { kind: "attach", attachments });
}
