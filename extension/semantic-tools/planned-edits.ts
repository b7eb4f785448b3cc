/** Renames and code actions of language services, as texts before and after: the agent writes them like its own edits. */
import * as vscode from "vscode";
import type { HermesPlannedEdit, HermesSymbolPlace } from "../../agent-core/protocol/editor.ts";
import { readText } from "../documents/read-text.ts";
import { openFile, positionsOf } from "./symbol-position.ts";

/** An action gets its edit when it is resolved, and each resolution is a question to the language service. */
const MAX_RESOLVED = 30;

/** Rejects with the language service's reason when the symbol cannot be renamed. */
export async function planRename(place: HermesSymbolPlace, newName: string): Promise<readonly HermesPlannedEdit[]> {
  const document = await openFile(place.path);
  const [position] = await positionsOf(document, place);
  const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit | undefined>(
    "vscode.executeDocumentRenameProvider",
    document.uri,
    position,
    newName,
  );
  return edit === undefined ? [] : planned(edit);
}

/** Actions of a line that are edits. An action that runs a command of the editor cannot be previewed. */
export async function actionsAt(path: string, line: number): Promise<readonly vscode.CodeAction[]> {
  const document = await openFile(path);
  if (line > document.lineCount) throw new Error(`${path} has ${document.lineCount} lines.`);
  return actionsIn(document.uri, document.lineAt(line - 1).range);
}

export async function actionsIn(
  uri: vscode.Uri,
  range: vscode.Range,
  kind?: vscode.CodeActionKind,
): Promise<readonly vscode.CodeAction[]> {
  const found = await vscode.commands.executeCommand<(vscode.CodeAction | vscode.Command)[] | undefined>(
    "vscode.executeCodeActionProvider",
    uri,
    range,
    kind?.value,
    MAX_RESOLVED,
  );
  return (found ?? []).filter(
    (action): action is vscode.CodeAction =>
      "edit" in action && action.edit !== undefined && action.edit.size > 0 && action.disabled === undefined,
  );
}

export async function planAction(path: string, line: number, title: string): Promise<readonly HermesPlannedEdit[]> {
  const actions = await actionsAt(path, line);
  const action = actions.find((one) => one.title === title);
  if (action?.edit === undefined) {
    const titles = actions.map((one) => one.title).join("; ");
    throw new Error(`There is no action ${JSON.stringify(title)} at line ${line}. There are: ${titles || "none"}.`);
  }
  return planned(action.edit);
}

/** Rejects when the edit is for something else than files on the disk. */
function planned(edit: vscode.WorkspaceEdit): Promise<readonly HermesPlannedEdit[]> {
  return Promise.all(
    edit.entries().map(async ([uri, changes]) => {
      if (uri.scheme !== "file") throw new Error(`The change reaches ${uri.toString(true)}, which is not a file.`);
      const path = uri.fsPath;
      const text = await readText(path);
      if (text === null) throw new Error(`The change creates ${path}. Create it with write_file.`);
      const before = text.replaceAll(/\r\n?/g, "\n");
      return { path, before, after: applied(before, changes) };
    }),
  );
}

/** `text` has line breaks of one character; the ranges do not overlap. */
function applied(text: string, changes: readonly vscode.TextEdit[]): string {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const offset = ({ line, character }: vscode.Position): number =>
    Math.min((starts[line] ?? text.length) + character, text.length);
  let after = text;
  // From the last one, so that the offsets of the others stay. Insertions at one place keep their order.
  for (const { range, newText } of changes
    .toSorted((one, other) => one.range.start.compareTo(other.range.start))
    .reverse())
    after = after.slice(0, offset(range.start)) + newText.replaceAll(/\r\n?/g, "\n") + after.slice(offset(range.end));
  return after;
}
