// Runs in VS Code's extension host: makes the edits of hunk-kinds.ts one by one, and waits for the picture of each.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { type HunkKind, hunkKinds } from "../../scripts/screenshots/hunk-kinds.ts";
import { closeEditors } from "./support/editors.ts";
import { ReviewDesk } from "./support/review-desk.ts";

/** Pictures to take, as JSON in HERMES_HUNK_PICTURES. */
export type PictureOrder = {
  /** File that the taker of pictures makes when it has one, and the host removes. */
  readonly taken: string;
  readonly themes: readonly string[];
  /** Names of kinds; empty: all. */
  readonly kinds: readonly string[];
};

export async function run(): Promise<void> {
  const order: PictureOrder = JSON.parse(process.env["HERMES_HUNK_PICTURES"] ?? "");
  const { fsPath: root = "" } = vscode.workspace.workspaceFolders?.[0]?.uri ?? {};
  const settings = vscode.workspace.getConfiguration();
  for (const bar of ["Sidebar", "AuxiliaryBar"]) await vscode.commands.executeCommand(`workbench.action.close${bar}`);
  for (const theme of order.themes) {
    await settings.update("workbench.colorTheme", theme, vscode.ConfigurationTarget.Global);
    for (const kind of hunkKinds.filter(({ name }) => order.kinds.length === 0 || order.kinds.includes(name))) {
      const folder = join(root, `${theme} ${kind.name}`.replaceAll(" ", "-"));
      mkdirSync(folder);
      await show(join(folder, kind.file), kind, async () => {
        console.log(`[picture] ${JSON.stringify({ theme, name: kind.name, hoverOver: kind.hoverOver })}`);
        while (!existsSync(order.taken)) await delay(30);
        rmSync(order.taken);
      });
    }
  }
}

/** Shows the edit in its file, with the caret away from it, until `taken` resolves. */
async function show(path: string, kind: HunkKind, taken: () => Promise<void>): Promise<void> {
  const settings = vscode.workspace.getConfiguration();
  await settings.update("editor.wordWrap", kind.isWrapped ? "on" : undefined, vscode.ConfigurationTarget.Global);
  const desk = new ReviewDesk();
  if (kind.before !== "") writeFileSync(path, kind.before);
  await desk.applied.apply({ path, expected: kind.before === "" ? null : kind.before, after: kind.after });
  const uri = vscode.Uri.file(path);
  if (kind.file.endsWith(".ipynb")) await vscode.commands.executeCommand("vscode.open", uri);
  else {
    const editor = await vscode.window.showTextDocument(uri, { preview: false });
    const isFirst = desk.review.hunks(uri)[0]?.newStart === 0;
    const caret = new vscode.Position(isFirst ? editor.document.lineCount - 1 : 0, 0);
    editor.selection = new vscode.Selection(caret, caret);
  }
  if (kind.isInDiff) await desk.opener.openDiff(uri, false);
  await taken();
  await closeEditors();
  await desk.dispose();
}
