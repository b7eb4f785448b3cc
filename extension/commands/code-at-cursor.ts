/** The code that an editor action is about: the selection, else the symbol at the cursor, else the file. */
import * as vscode from "vscode";
import { Deadline } from "../../agent-core/platform/deadline.ts";
import { oneLine } from "../../agent-core/platform/one-line.ts";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import { linesOf } from "../attachments/suggestion.ts";
import { nameOf } from "../attachments/workspace-files.ts";
import { showInformation } from "../notifications.ts";

/** Time for the language server's symbols. A server that still starts would delay the action. Milliseconds. */
const SYMBOLS_MS = 1_500;

/** Lines around a cursor that is in no symbol. */
const NEAR_LINES = 20;

/** Longest name of a symbol in a prompt; a language server may give its whole signature. Characters. */
const MAX_NAME = 40;

type Place = Pick<vscode.TextEditor, "document" | "selection">;

/** The editor in front. Without one the user reads what is missing. */
export async function editorInUse(): Promise<vscode.TextEditor | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) await showInformation(vscode.l10n.t("Hermes: put the cursor into the code first."));
  return editor;
}

/** Lines of the selection or of the symbol at the cursor; else the whole file. `name` as in `parseUrl in url.ts`. */
export async function codeAt({ document, selection }: Place): Promise<{ name: string; code: Attachment }> {
  if (!selection.isEmpty) return named(linesOf(document.uri, selection));
  const symbol = await symbolAt(document, selection.active);
  if (symbol === undefined) return named(fileOf(document));
  const name = vscode.l10n.t("{0} in {1}", oneLine(symbol.name, MAX_NAME), nameOf(document.uri));
  return { name, code: linesOf(document.uri, symbol.range) };
}

function named(code: Attachment): { name: string; code: Attachment } {
  return { name: code.label, code };
}

export function fileOf({ uri }: vscode.TextDocument): Attachment {
  return { kind: "file", uri: uri.toString(), label: nameOf(uri) };
}

/** Lines of the selection or of the symbol at the cursor; else those near the cursor. */
export async function linesAt({ document, selection }: Place): Promise<Attachment & { kind: "lines" }> {
  const range = selection.isEmpty ? (await symbolAt(document, selection.active))?.range : selection;
  return linesOf(document.uri, range ?? near(document, selection));
}

/** A range with some lines before and after it. */
export function near(document: vscode.TextDocument, { start, end }: vscode.Range): vscode.Range {
  const [first, last] = [Math.max(0, start.line - NEAR_LINES), end.line + NEAR_LINES];
  return document.validateRange(new vscode.Range(first, 0, last, Number.MAX_SAFE_INTEGER));
}

type NamedRange = Pick<vscode.DocumentSymbol, "name" | "range">;

/** The innermost symbol of several lines, or function. Undefined without a language server. */
async function symbolAt(document: vscode.TextDocument, cursor: vscode.Position): Promise<NamedRange | undefined> {
  const provided = vscode.commands.executeCommand<readonly vscode.DocumentSymbol[] | undefined>(
    "vscode.executeDocumentSymbolProvider",
    document.uri,
  );
  const symbols = Promise.resolve(provided).catch(() => undefined); // the action works without them
  return (await new Deadline(SYMBOLS_MS).waitFor(symbols)) ? innermost((await symbols) ?? [], cursor) : undefined;
}

function innermost(symbols: readonly vscode.DocumentSymbol[], cursor: vscode.Position): NamedRange | undefined {
  for (const { name, range, children = [] } of symbols) {
    // Some providers return flat symbols without a range of their own.
    if (range?.contains(cursor) !== true) continue;
    return innermost(children, cursor) ?? (range.isSingleLine ? undefined : { name, range });
  }
  return undefined;
}
