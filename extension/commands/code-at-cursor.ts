/** The code that an editor action is about: the selection, else the symbol at the cursor, else the file. */
import * as vscode from "vscode";
import { oneLine } from "../../agent-core/platform/one-line.ts";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
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
  if (!selection.isEmpty) return named(linesOf(document, selection));
  const symbol = await symbolAt(document, selection.active);
  if (symbol === undefined) return named(fileOf(document));
  const name = vscode.l10n.t("{0} in {1}", oneLine(symbol.name, MAX_NAME), baseName(document.uri));
  return { name, code: linesOf(document, symbol.range) };
}

function named(code: Attachment): { name: string; code: Attachment } {
  return { name: code.label, code };
}

export function fileOf({ uri }: vscode.TextDocument): Attachment {
  return { kind: "file", uri: uri.toString(), label: baseName(uri) };
}

/** Lines of the selection or of the symbol at the cursor; else those near the cursor. */
export async function linesAt({ document, selection }: Place): Promise<Attachment & { kind: "lines" }> {
  const range = selection.isEmpty ? (await symbolAt(document, selection.active))?.range : selection;
  if (range !== undefined) return linesOf(document, range);
  return linesOf(document, near(document, selection));
}

/** The lines of a range. A range that ends at the start of a line does not include that line. */
export function linesOf({ uri }: vscode.TextDocument, { start, end }: vscode.Range): Attachment & { kind: "lines" } {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  const [from, to] = [start.line + 1, last + 1];
  const lines = from === to ? `${from}` : `${from}-${to}`;
  return { kind: "lines", uri: uri.toString(), label: `${baseName(uri)}:${lines}`, start: from, end: to };
}

/** A range with some lines before and after it. */
export function near(document: vscode.TextDocument, { start, end }: vscode.Range): vscode.Range {
  const [first, last] = [Math.max(0, start.line - NEAR_LINES), end.line + NEAR_LINES];
  return document.validateRange(new vscode.Range(first, 0, last, Number.MAX_SAFE_INTEGER));
}

export function baseName({ path }: vscode.Uri): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

type NamedRange = Pick<vscode.DocumentSymbol, "name" | "range">;

/** The innermost symbol of several lines, or function. Undefined without a language server. */
async function symbolAt(document: vscode.TextDocument, cursor: vscode.Position): Promise<NamedRange | undefined> {
  const symbols = vscode.commands.executeCommand<readonly vscode.DocumentSymbol[] | undefined>(
    "vscode.executeDocumentSymbolProvider",
    document.uri,
  );
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => timeout.resolve(undefined), SYMBOLS_MS);
  try {
    return innermost((await Promise.race([symbols, timeout.promise])) ?? [], cursor);
  } catch {
    return undefined; // the action works without symbols
  } finally {
    clearTimeout(timer);
  }
}

function innermost(symbols: readonly vscode.DocumentSymbol[], cursor: vscode.Position): NamedRange | undefined {
  for (const { name, range, children = [] } of symbols) {
    // Some providers return flat symbols without a range of their own.
    if (range?.contains(cursor) !== true) continue;
    return innermost(children, cursor) ?? (range.isSingleLine ? undefined : { name, range });
  }
  return undefined;
}
