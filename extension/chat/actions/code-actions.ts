/** Messages of the panel about code blocks of answers: insert at the cursor, and apply to a file, under review. */
import { relative, sep } from "node:path";
import * as vscode from "vscode";
import type { PanelMessage } from "../../../agent-core/protocol/panel-messages.ts";
import { openPlan } from "../../commands/plan-document.ts";
import { findLinkedFile, folderOf, realPlace } from "../../documents/file-links.ts";
import { presentText } from "../../documents/guarded-edit.ts";
import { placeCode, type Span } from "../../documents/place-code.ts";
import { showWarning, withErrorMessage } from "../../notifications.ts";
import type { Services } from "../../services.ts";
import type { PanelActions } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";

/** Display time of a message in the status bar. Milliseconds. */
const STATUS_MS = 3_000;

/** Part of a block's first line in a prompt. Characters. */
const QUOTE_CHARS = 80;

const INSERT = vscode.l10n.t("Insert at Cursor");
const NEW_FILE = vscode.l10n.t("New File");
const ASK = vscode.l10n.t("Ask Hermes");

type Block = Extract<PanelMessage, { type: "apply-code" }>;

export function codeActions({ editReview, opener }: Pick<Services, "editReview" | "opener">, panel: ChatPanel) {
  const apply = async (block: Block): Promise<void> => {
    if (!vscode.workspace.isTrusted) throw new Error(vscode.l10n.t("the workspace is not trusted"));
    const { folder } = panel.shown.worktree;
    const uri = await targetOf(block, folder);
    if (uri === undefined || !(await isAllowed(uri, folder))) return;
    const expected = await presentText(uri.fsPath);
    const placed = placeCode(expected ?? "", block.text, selectionIn(uri, expected));
    if (placed.kind !== "placed") return explain(block, uri, placed.kind);
    const edit = { path: uri.fsPath, expected, after: placed.text };
    await editReview.write(edit, new AbortController().signal, () => undefined);
    await opener.reveal(uri.fsPath);
  };
  const explain = async (block: Block, uri: vscode.Uri, reason: "same" | "gap" | "unclear"): Promise<void> => {
    const name = vscode.workspace.asRelativePath(uri);
    const text = {
      same: vscode.l10n.t("Hermes: {0} already has this code.", name),
      gap: vscode.l10n.t("Hermes: this code leaves out parts of {0}, so it cannot replace them.", name),
      unclear: vscode.l10n.t("Hermes: it is not clear which lines of {0} this code replaces.", name),
    }[reason];
    const actions = reason === "same" ? [] : [INSERT, NEW_FILE, ASK];
    const action = await showWarning(text, ...actions);
    if (action === INSERT) await insertText(block.text, await vscode.window.showTextDocument(uri));
    if (action === NEW_FILE) await openNewFile(block);
    if (action === ASK) panel.shown.prompt({ text: askText(block, name) });
  };
  return {
    "insert-text": ({ text }) => insertText(text),
    "insert-into-terminal": ({ text }) => insertIntoTerminal(text),
    "show-diagram": ({ text }) => showDiagram(text),
    "open-plan": ({ text }) => openPlan(text, panel.shown),
    "apply-code": (block) => withErrorMessage(vscode.l10n.t("The code cannot be applied"), () => apply(block)),
  } satisfies Partial<PanelActions>;
}

const DIAGRAM_SCHEME = "hermes-diagram";

/** Documents whose text is in their address. */
export function provideDiagrams(): vscode.Disposable {
  const provideTextDocumentContent = ({ query }: vscode.Uri): string => query;
  return vscode.workspace.registerTextDocumentContentProvider(DIAGRAM_SCHEME, { provideTextDocumentContent });
}

/** VS Code's preview of Markdown draws Mermaid, and keeps scripts and addresses out of it. */
async function showDiagram(text: string): Promise<void> {
  const path = `/${vscode.l10n.t("Diagram")}.md`;
  const uri = vscode.Uri.from({ scheme: DIAGRAM_SCHEME, path, query: `~~~~mermaid\n${text}\n~~~~` });
  await vscode.commands.executeCommand("markdown.showPreview", uri);
}

const TERMINAL = vscode.l10n.t("Hermes: Commands");

/** Types the commands into a terminal of their own, as a paste: none runs before the user presses Enter. */
function insertIntoTerminal(text: string): void {
  const open = vscode.window.terminals.find(({ name, exitStatus }) => name === TERMINAL && exitStatus === undefined);
  const terminal = open ?? vscode.window.createTerminal({ name: TERMINAL });
  terminal.show();
  // Answers show prompts. A control character could end the paste, or be Enter.
  const lines = text
    .trimEnd()
    .replaceAll(/(?![\n\t])\p{Cc}/gu, "")
    .replaceAll(/^\$ /gm, "");
  terminal.sendText(lines.includes("\n") ? `\u001b[200~${lines}\u001b[201~` : lines, false);
}

/** The file that the answer names, else the one of the editor. Without any, the code opens as a new file: undefined. */
async function targetOf(block: Block, own: string | undefined): Promise<vscode.Uri | undefined> {
  const found = await Promise.all(block.paths.map((path) => findLinkedFile(path, own)));
  const files = new Map(found.flatMap((one) => (one.kind === "file" ? [[one.uri.fsPath, one.uri]] : [])));
  if (files.size > 0) return choose([...files.values()]);
  const active = editorInUse()?.document.uri;
  const missing = found.find((one) => one.kind === "missing");
  if (missing !== undefined) return createOr(missing.uri, active);
  if (active !== undefined) return active;
  await openNewFile(block);
  return undefined;
}

async function choose(uris: readonly vscode.Uri[]): Promise<vscode.Uri | undefined> {
  const rows = uris.map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }));
  if (rows.length === 1) return rows[0]?.uri;
  return (await vscode.window.showQuickPick(rows, { title: vscode.l10n.t("Apply the Code To") }))?.uri;
}

/** The answer names a file that is not there: it is created, or the code is for the active file after all. */
async function createOr(missing: vscode.Uri, active: vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  const create = vscode.l10n.t("Create File");
  const apply = active && vscode.l10n.t("Apply to {0}", vscode.workspace.asRelativePath(active));
  const text = vscode.l10n.t("Hermes: there is no file {0}.", vscode.workspace.asRelativePath(missing));
  const action = await showWarning(text, create, ...(apply === undefined ? [] : [apply]));
  if (action === undefined) return undefined;
  return action === create ? missing : active;
}

/**
 * Hidden files configure git, the editor and other tools: one in the workspace changes only after a question. So does a
 * file outside of the workspace that a link in it leads to. `own`: the session's folder, which counts to the workspace.
 */
async function isAllowed(uri: vscode.Uri, own: string | undefined): Promise<boolean> {
  const folder = folderOf(uri, own);
  const path = folder === undefined ? uri.fsPath : relative(folder, uri.fsPath);
  const real = realPlace(uri, own);
  const isHidden = [path, real.below ?? ""].some((each) => each.split(sep).some((name) => name.startsWith(".")));
  if (folder !== undefined && real.below === undefined)
    return confirm(vscode.l10n.t("Apply the code to {0}? {1} leads there, out of the workspace.", real.path, path));
  if (!isHidden) return true;
  return confirm(vscode.l10n.t("Apply the code to {0}? Such a file can change what other programs run.", path));
}

async function confirm(question: string): Promise<boolean> {
  const apply = vscode.l10n.t("Apply");
  return (await vscode.window.showWarningMessage(question, { modal: true }, apply)) === apply;
}

/** Editor of the user's last file. It is not active while the panel in an editor tab has the focus. */
function editorInUse(): vscode.TextEditor | undefined {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  const [visible, ...others] = visibleTextEditors.filter(({ document: { uri } }) => uri.scheme !== "output");
  return activeTextEditor ?? (others.length === 0 ? visible : undefined);
}

function selectionIn(uri: vscode.Uri, text: string | null): Span | undefined {
  const editor = editorInUse();
  if (editor === undefined || editor.selection.isEmpty) return undefined;
  const { document, selection } = editor;
  if (document.uri.fsPath !== uri.fsPath || document.getText() !== text) return undefined;
  return { start: document.offsetAt(selection.start), end: document.offsetAt(selection.end) };
}

function askText({ text }: Block, name: string): string {
  const [first = ""] = text.trim().split("\n");
  return vscode.l10n.t("Apply the code block that begins with `{0}` to {1}.", first.slice(0, QUOTE_CHARS), name);
}

async function openNewFile({ text, language }: Block): Promise<void> {
  const known = new Set(await vscode.languages.getLanguages());
  const options = { content: text, ...(known.has(language) && { language }) };
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(options));
}

async function insertText(text: string, editor = editorInUse()): Promise<void> {
  if (editor === undefined) {
    vscode.window.setStatusBarMessage(vscode.l10n.t("Hermes: open a file to insert into"), STATUS_MS);
    return;
  }
  await editor.insertSnippet(new vscode.SnippetString().appendText(text));
}
