/** The agent's questions to language services, through VS Code's providers. */
import type { ClientApp } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import type * as z from "zod";
import { waitForEvent } from "../../agent-core/platform/deadline.ts";
import { messageOf } from "../../agent-core/platform/errors.ts";
import {
  editorMethods,
  type HermesCodePlace,
  type HermesDiagnostic,
  type HermesEditorState,
  type HermesSymbolPlace,
} from "../../agent-core/protocol/editor.ts";
import { failure, onAgentRequest } from "../../agent-core/protocol/handle.ts";
import type { RequestMethod } from "../../agent-core/protocol/method.ts";
import { readText, textTabs } from "../documents/read-text.ts";
import { listTasks } from "./editor-tasks.ts";
import { actionsAt, actionsIn, planAction, planRename } from "./planned-edits.ts";
import { declaredSymbols, kindName, openFile, positionsOf } from "./symbol-position.ts";

/** Places that the agent gets; it shows fewer, and the number of the others. */
const MAX_PLACES = 1_000;
/** Places whose line is read. */
const MAX_LINES = 100;
/** Problems whose quick fixes are listed, and fixes of each. */
const MAX_FIXED = 10;
const MAX_FIXES = 3;
/** Time for the problems of a file that was not open. Milliseconds. */
const DIAGNOSTICS_MS = 3_000;

export function registerSemanticRequests(app: ClientApp): void {
  answer(app, editorMethods.symbols, async ({ path, query }) => ({ symbols: await symbols(path, query) }));
  answer(app, editorMethods.places, async ({ relation, ...place }) => ({ places: await places(place, relation) }));
  answer(app, editorMethods.hover, async (place) => ({ text: await hover(place) }));
  answer(app, editorMethods.rename, async ({ newName, ...place }) => ({ edits: await planRename(place, newName) }));
  answer(app, editorMethods.actions, async ({ path, line }) => ({
    titles: [...new Set((await actionsAt(path, line)).map(({ title }) => title))],
  }));
  answer(app, editorMethods.action, async ({ path, line, title }) => ({ edits: await planAction(path, line, title) }));
  answer(app, editorMethods.diagnostics, async ({ path }) => ({ diagnostics: await diagnostics(path) }));
  answer(app, editorMethods.state, () => Promise.resolve(editorState()));
  answer(app, editorMethods.tasks, async () => ({ tasks: await listTasks() }));
}

/** The model reads the message of an error. */
function answer<Params extends z.ZodType, Result extends z.ZodType>(
  app: ClientApp,
  method: RequestMethod<Params, Result>,
  work: (params: z.output<Params>) => Promise<z.input<Result>>,
): void {
  onAgentRequest(app, method, async ({ params }) => {
    try {
      return await work(params);
    } catch (error) {
      throw failure(messageOf(error));
    }
  });
}

async function symbols(path: string | undefined, query: string) {
  if (path !== undefined) {
    const document = await openFile(path);
    const declared = await declaredSymbols(document);
    if (declared.length === 0) throw unanswered(document);
    const part = query.toLowerCase();
    return declared
      .filter(({ name }) => name.toLowerCase().includes(part))
      .map(({ position: _, ...symbol }) => symbol)
      .slice(0, MAX_PLACES);
  }
  const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
    "vscode.executeWorkspaceSymbolProvider",
    query,
  );
  return (found ?? []).slice(0, MAX_PLACES).map(({ name, kind, containerName: container, location }) => ({
    name,
    kind: kindName(kind),
    container,
    path: pathOf(location.uri),
    line: location.range.start.line + 1,
  }));
}

const PROVIDERS = {
  definitions: "vscode.executeDefinitionProvider",
  references: "vscode.executeReferenceProvider",
  implementations: "vscode.executeImplementationProvider",
} as const;

async function places(place: HermesSymbolPlace, relation: keyof typeof PROVIDERS): Promise<readonly HermesCodePlace[]> {
  const found = await askAt<vscode.Location | vscode.LocationLink>(place, PROVIDERS[relation]);
  const targets = found.map((one) =>
    "targetUri" in one
      ? { uri: one.targetUri, line: (one.targetSelectionRange ?? one.targetRange).start.line }
      : { uri: one.uri, line: one.range.start.line },
  );
  return withLines(targets.slice(0, MAX_PLACES));
}

async function hover(place: HermesSymbolPlace): Promise<string> {
  const found = await askAt<vscode.Hover>(place, "vscode.executeHoverProvider");
  const texts = found.flatMap(({ contents }) => contents.map((part) => (typeof part === "string" ? part : part.value)));
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .join("\n\n");
}

/** The first answer of a provider at one of the positions of a name. */
async function askAt<Found>(place: HermesSymbolPlace, command: string): Promise<readonly Found[]> {
  const document = await openFile(place.path);
  for (const position of await positionsOf(document, place)) {
    const found = await vscode.commands.executeCommand<Found[] | undefined>(command, document.uri, position);
    if (found !== undefined && found.length > 0) return found;
  }
  if ((await declaredSymbols(document)).length === 0) throw unanswered(document);
  return [];
}

function unanswered({ languageId }: vscode.TextDocument): Error {
  return new Error(`No extension of the editor answers for this file (${languageId}). Use search_files.`);
}

/** A document that is not on the disk has its whole address. */
function pathOf(uri: vscode.Uri): string {
  return uri.scheme === "file" ? uri.fsPath : uri.toString(true);
}

type Target = { readonly uri: vscode.Uri; readonly line: number };

async function withLines(targets: readonly Target[]): Promise<readonly HermesCodePlace[]> {
  const shown = new Set(targets.slice(0, MAX_LINES).flatMap(({ uri }) => (uri.scheme === "file" ? uri.fsPath : [])));
  const read = [...shown].map(async (path) => {
    const text = await readText(path).catch(() => null); // the place is useful without its line
    return [path, text?.split(/\r\n|\r|\n/) ?? []] as const;
  });
  const lines = new Map(await Promise.all(read));
  return targets.map(({ uri, line }) => {
    const path = pathOf(uri);
    return { path, line: line + 1, text: lines.get(path)?.[line]?.trim() ?? "" };
  });
}

const SEVERITIES: Readonly<Partial<Record<vscode.DiagnosticSeverity, HermesDiagnostic["severity"]>>> = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
  [vscode.DiagnosticSeverity.Information]: "info",
};

/** Of one file with its quick fixes, or of all files without. Hints are left out. */
async function diagnostics(path: string | undefined): Promise<readonly HermesDiagnostic[]> {
  if (path === undefined) {
    const all = vscode.languages.getDiagnostics().filter(([uri]) => uri.scheme === "file");
    return all.flatMap(([uri, found]) => found.flatMap((one) => reported(uri, one) ?? [])).slice(0, MAX_PLACES);
  }
  const found = await fileDiagnostics(path);
  const uri = vscode.Uri.file(path);
  return Promise.all(
    found.flatMap((one, index) => {
      const known = reported(uri, one);
      if (known === undefined) return [];
      return index < MAX_FIXED ? [withFixes(known, uri, one.range)] : [Promise.resolve(known)];
    }),
  );
}

/** Language services check open documents only. */
async function fileDiagnostics(path: string): Promise<readonly vscode.Diagnostic[]> {
  const uri = vscode.Uri.file(path);
  const key = uri.toString();
  const isOpen = vscode.workspace.textDocuments.some((document) => document.uri.toString() === key);
  if (!isOpen) {
    const checked = waitForEvent(DIAGNOSTICS_MS, (done) => [
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        if (uris.some((changed) => changed.toString() === key)) done();
      }),
    ]);
    await openFile(path);
    await checked;
  }
  return vscode.languages.getDiagnostics(uri);
}

function reported(uri: vscode.Uri, { severity, range, message, source, code }: vscode.Diagnostic) {
  const known = SEVERITIES[severity];
  if (known === undefined) return undefined;
  const name = typeof code === "object" ? code.value : code;
  const finder = [source, name].filter((part) => part !== undefined && part !== "").join(" ");
  const text = finder === "" ? message : `${message} (${finder})`;
  return { path: uri.fsPath, line: range.start.line + 1, severity: known, message: text, fixes: [] };
}

async function withFixes(known: HermesDiagnostic, uri: vscode.Uri, range: vscode.Range): Promise<HermesDiagnostic> {
  const actions = await actionsIn(uri, range, vscode.CodeActionKind.QuickFix);
  return { ...known, fixes: [...new Set(actions.map(({ title }) => title))].slice(0, MAX_FIXES) };
}

/** Files of the disk in the tabs, and the selection in front. */
function editorState(): HermesEditorState {
  const editor = vscode.window.activeTextEditor;
  const open = textTabs()
    .filter(({ uri }) => uri.scheme === "file")
    .map(({ uri, isDirty }) => ({ path: uri.fsPath, isUnsaved: isDirty }));
  if (editor === undefined || editor.document.uri.scheme !== "file") return { active: null, open };
  const { document, selection } = editor;
  const selected = document.getText(selection);
  const [first, last] = [selection.start.line + 1, selection.end.line + 1];
  return { active: { path: document.uri.fsPath, first, last, selected }, open };
}
