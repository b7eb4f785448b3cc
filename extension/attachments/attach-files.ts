/**
 * Attachments of the next message: files that the user dropped or picked, and commands in the Explorer, editors, tabs
 * and terminals.
 */
import * as vscode from "vscode";
import { attempt, messageOf } from "../../agent-core/platform/errors.ts";
import type { Attachment, PictureType } from "../../agent-core/protocol/attachments.ts";
import { showPanel } from "../commands/show-panel.ts";
import { realPlace } from "../documents/file-links.ts";
import { showWarning } from "../notifications.ts";
import type { Services } from "../services.ts";
import { editorAttachment, unsavedAttachment } from "./suggestion.ts";
import { nameOf } from "./workspace-files.ts";

/** Limit of a picture. In base64 it is nearly 64 MiB, the limit of a message to the panel, which scales it down. */
const MAX_PICTURE_BYTES = 50_000_000;

const PICTURES: Readonly<Record<string, PictureType>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

export type AttachedFiles = {
  readonly attachments: readonly Attachment[];
  /** Reasons why others are not attached, one sentence each. */
  readonly refused: readonly string[];
};

/** Files, folders and pictures as attachments. `within`: only those of the workspace. */
export async function attachFiles(
  uris: readonly vscode.Uri[],
  { within }: { readonly within: boolean },
): Promise<AttachedFiles> {
  const results = await Promise.all(uris.map((uri) => attachFile(uri, within)));
  return {
    attachments: results.filter((result) => typeof result !== "string"),
    refused: results.filter((result) => typeof result === "string"),
  };
}

/**
 * Resource of a text in a drag; undefined for another text. VS Code turns addresses of a remote window's own machine into
 * those of files, but not inside texts. Its authority has no API: only the addresses for a webview show it.
 */
export function draggedUri(text: string, webview: Pick<vscode.Webview, "asWebviewUri">): vscode.Uri | undefined {
  return attempt(() => {
    const uri = vscode.Uri.parse(text, true);
    const file = uri.with({ scheme: "file", authority: "" });
    const isHere = String(webview.asWebviewUri(uri)) === String(webview.asWebviewUri(file));
    return uri.scheme === REMOTE && isHere ? file : uri;
  });
}

/** Scheme of files on the other end of a remote window. */
const REMOTE = "vscode-remote";

async function attachFile(uri: vscode.Uri, within: boolean): Promise<Attachment | string> {
  const label = nameOf(uri);
  const unsaved = unsavedAttachment(uri);
  if (unsaved !== undefined) return unsaved;
  if (uri.scheme === REMOTE) {
    return vscode.l10n.t("{0} is not attached: it is on another machine ({1}).", label, uri.authority);
  }
  if (uri.scheme !== "file") return vscode.l10n.t("{0} is not attached: it is not a file on this machine.", label);
  if (within && realPlace(uri).below === undefined) {
    return vscode.l10n.t("{0} is not attached: it is outside the workspace.", label);
  }
  try {
    const { type, size } = await vscode.workspace.fs.stat(uri);
    if ((type & vscode.FileType.Directory) !== 0) return { kind: "folder", uri: uri.toString(), label };
    const mimeType = PICTURES[label.split(".").at(-1)?.toLowerCase() ?? ""];
    if (mimeType === undefined) return { kind: "file", uri: uri.toString(), label };
    if (size > MAX_PICTURE_BYTES) {
      return vscode.l10n.t(
        "{0} is not attached: a picture may have {1} MB, and it has {2} MB.",
        label,
        MAX_PICTURE_BYTES / 1e6,
        (size / 1e6).toLocaleString(vscode.env.language, { maximumFractionDigits: 1, minimumFractionDigits: 1 }),
      );
    }
    const bytes = await vscode.workspace.fs.readFile(uri);
    return { kind: "picture", label, mimeType, data: Buffer.from(bytes).toString("base64") };
  } catch (error) {
    return vscode.l10n.t("{0} is not attached: {1}", label, messageOf(error));
  }
}

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
  if (refused.length > 0) void showWarning(`Hermes: ${refused.join(" ")}`);
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
  const mark = `Hermes ${Date.now()}`; // in a browser, an empty text may not reach the clipboard
  await clipboard.writeText(mark);
  try {
    if ((await clipboard.readText()) !== mark) return "";
    await vscode.commands.executeCommand("workbench.action.terminal.copySelection");
    const text = await clipboard.readText();
    if (text !== mark) return text.trim();
    // VS Code warns that nothing is selected. The output of the last command takes its place.
    await vscode.commands.executeCommand("notifications.hideToasts");
    return "";
  } finally {
    await clipboard.writeText(before);
  }
}

async function attach(services: Services, attachments: readonly Attachment[]): Promise<void> {
  await showPanel(services, { kind: "compose", attachments });
}
