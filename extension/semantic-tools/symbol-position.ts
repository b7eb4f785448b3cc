/** Position of a name in a document: the agent knows names and lines, and language services need columns. */
import { setTimeout as delay } from "node:timers/promises";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { escapePattern } from "../../agent-core/platform/escape-pattern.ts";
import type { HermesSymbol, HermesSymbolPlace } from "../../agent-core/protocol/editor.ts";

/** Waits for a language service, which starts with the first document of its language. Milliseconds. */
const START_WAITS_MS = [100, 200, 400, 800, 1_500, 2_000];
/** Lines around the given line that are searched too: the agent may know the line from an earlier text. */
const NEAR_LINES = 5;
/** Uses of a name that are tried when it has no declaration in the file: the first one may be in a comment. */
const MAX_USES = 5;

/** Languages whose service has answered once, or has not answered within all waits. */
const started = new Set<string>();

export type DeclaredSymbol = HermesSymbol & { readonly position: vscode.Position };

/** Rejects with an Error in one line when the file cannot be opened. */
export async function openFile(path: string): Promise<vscode.TextDocument> {
  try {
    return await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  } catch (error) {
    throw new Error(`${path} cannot be opened in the editor: ${messageOf(error)}`);
  }
}

/** Symbols that a document declares, in its order. */
export async function declaredSymbols(document: vscode.TextDocument): Promise<readonly DeclaredSymbol[]> {
  const { uri, languageId } = document;
  for (const wait of started.has(languageId) ? [] : START_WAITS_MS) {
    const symbols = await readSymbols(uri);
    if (symbols.length > 0) {
      started.add(languageId);
      return symbols;
    }
    await delay(wait);
  }
  started.add(languageId);
  return readSymbols(uri);
}

async function readSymbols(uri: vscode.Uri): Promise<readonly DeclaredSymbol[]> {
  const found = await vscode.commands.executeCommand<(vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined>(
    "vscode.executeDocumentSymbolProvider",
    uri,
  );
  return flatten(found ?? [], "", uri.fsPath);
}

function flatten(
  symbols: readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[],
  container: string,
  path: string,
): readonly DeclaredSymbol[] {
  return symbols.flatMap((symbol) => {
    const isNested = "selectionRange" in symbol;
    const position = isNested ? symbol.selectionRange.start : symbol.location.range.start;
    const own = isNested ? container : symbol.containerName;
    const declared = { name: symbol.name, kind: kindName(symbol.kind), path, line: position.line + 1, container: own };
    return [{ ...declared, position }, ...flatten(isNested ? symbol.children : [], symbol.name, path)];
  });
}

export function kindName(kind: vscode.SymbolKind): string {
  return (vscode.SymbolKind[kind] ?? "symbol").toLowerCase();
}

/**
 * Positions of a name, the most likely one first. Rejects with an Error in one line when the file does not have the name, or
 * when it has several declarations and `line` is undefined.
 */
export async function positionsOf(
  document: vscode.TextDocument,
  { path, symbol, line }: HermesSymbolPlace,
): Promise<readonly vscode.Position[]> {
  const [name = symbol, container] = symbol.split(/\.|#|::/).toReversed();
  const declared = (await declaredSymbols(document)).filter(
    (candidate) =>
      (candidate.name === name || candidate.name.startsWith(`${name}(`)) &&
      (container === undefined || container === "" || candidate.container === container),
  );
  const uses = usesOf(document, name);
  if (line !== undefined) return [nearest(uses, line, `${path} has no ${name} at line ${line}`)];
  if (declared.length > 1) {
    const lines = declared.map((one) => one.line).join(", ");
    throw new Error(`${path} declares ${symbol} more than once, on lines ${lines}: give the line.`);
  }
  const [declaration] = declared;
  if (declaration === undefined) {
    if (uses.length === 0) throw new Error(`${path} does not contain ${name}.`);
    return uses.slice(0, MAX_USES);
  }
  return [uses.find((use) => use.isAfterOrEqual(declaration.position)) ?? declaration.position];
}

function nearest(uses: readonly vscode.Position[], line: number, problem: string): vscode.Position {
  const distance = (use: vscode.Position): number => Math.abs(use.line + 1 - line);
  const [best] = uses.toSorted((one, other) => distance(one) - distance(other));
  if (best === undefined || distance(best) > NEAR_LINES) {
    const lines = [...new Set(uses.map((use) => use.line + 1))].slice(0, MAX_USES).join(", ");
    throw new Error(lines === "" ? `${problem}.` : `${problem}; it is on lines ${lines}.`);
  }
  return best;
}

/** Positions of the name as a whole word. */
function usesOf(document: vscode.TextDocument, name: string): readonly vscode.Position[] {
  const word = new RegExp(`(?<![\\p{ID_Continue}$])${escapePattern(name)}(?![\\p{ID_Continue}$])`, "gu");
  return [...document.getText().matchAll(word)].map(({ index }) => document.positionAt(index));
}
