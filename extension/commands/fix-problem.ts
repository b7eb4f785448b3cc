/** Problems of the editor as requests to Hermes: quick fixes on diagnostics, and the commands behind them. */
import * as vscode from "vscode";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import { linesOf } from "../attachments/suggestion.ts";
import { nameOf } from "../attachments/workspace-files.ts";
import { showInformation } from "../notifications.ts";
import type { Services } from "../services.ts";
import { explainProblemPrompt, fixPrompt } from "./action-prompts.ts";
import { fileOf, near } from "./code-at-cursor.ts";
import { ask } from "./editor-commands.ts";

/** Argument of the quick fixes: plain data, because VS Code sends it to another process and back. Lines from 0. */
type ProblemPlace = { readonly uri: string; readonly start: number; readonly end: number };

type PromptFor = (problems: readonly string[], place: string) => string;

/** Problems that a prompt quotes; the attachment has all of them. */
const QUOTED_PROBLEMS = 5;

const SEVERITIES = ["error", "warning", "information", "hint"];

/** Adds "Fix with Hermes" and "Explain with Hermes" to the quick fixes of problems. */
export function registerQuickFixes(): vscode.Disposable {
  const { QuickFix } = vscode.CodeActionKind;
  return vscode.languages.registerCodeActionsProvider(
    [{ scheme: "file" }, { scheme: "untitled" }],
    { provideCodeActions: ({ uri }, _range, { diagnostics }) => quickFixes(uri, diagnostics) },
    { providedCodeActionKinds: [QuickFix] },
  );
}

function quickFixes(uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
  if (diagnostics.length === 0) return [];
  const start = Math.min(...diagnostics.map(({ range }) => range.start.line));
  const end = Math.max(...diagnostics.map(({ range }) => range.end.line));
  const place: ProblemPlace = { uri: uri.toString(), start, end };
  return [
    [vscode.l10n.t("Fix with Hermes"), "hermes.fixProblem"],
    [vscode.l10n.t("Explain with Hermes"), "hermes.explainProblem"],
  ].map(([title = "", command = ""]) => {
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    action.command = { title, command, arguments: [place] };
    action.diagnostics = [...diagnostics];
    return action;
  });
}

export const fixProblem = (services: Services, place?: unknown): Promise<void> =>
  askAboutProblems(services, fixPrompt, place);

export const explainProblem = (services: Services, place?: unknown): Promise<void> =>
  askAboutProblems(services, explainProblemPrompt, place);

/** Asks about the problems of `place`, else of the cursor's lines, else of the whole file. */
async function askAboutProblems(services: Services, promptFor: PromptFor, given: unknown): Promise<void> {
  const place = isPlace(given) ? given : activePlace();
  const uri = place && vscode.Uri.parse(place.uri, true);
  const all = uri === undefined ? [] : vscode.languages.getDiagnostics(uri);
  if (place === undefined || uri === undefined || all.length === 0) {
    await showInformation(vscode.l10n.t("Hermes: the active file has no problems."));
    return;
  }
  const here = all.filter(({ range: { start, end } }) => start.line <= place.end && end.line >= place.start);
  const problems = here.length > 0 ? here : all;
  const path = vscode.workspace.asRelativePath(uri);
  const quoted = problems.slice(0, QUOTED_PROBLEMS).map((problem) => problemLine(path, problem));
  const rest: Attachment = { kind: "problems", uri: place.uri, label: vscode.l10n.t("Problems of {0}", path) };
  const code = await codeOf(uri, here);
  await ask(services, promptFor(quoted, placeOf(uri, here)), problems.length > quoted.length ? [code, rest] : [code]);
}

/** Lines around the problems; the file without problems. */
async function codeOf(uri: vscode.Uri, [first, ...others]: readonly vscode.Diagnostic[]): Promise<Attachment> {
  const document = await vscode.workspace.openTextDocument(uri);
  if (first === undefined) return fileOf(document);
  const range = others.reduce((union, other) => union.union(other.range), first.range);
  return linesOf(uri, near(document, range));
}

/** `url.ts:12` for the problems of one line; else `url.ts`. */
function placeOf(uri: vscode.Uri, [first, ...others]: readonly vscode.Diagnostic[]): string {
  const name = nameOf(uri);
  const line = first?.range.start.line;
  const isOneLine = line !== undefined && others.every(({ range }) => range.start.line === line);
  return isOneLine ? `${name}:${line + 1}` : name;
}

function activePlace(): ProblemPlace | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return undefined;
  const { document, selection } = editor;
  return { uri: document.uri.toString(), start: selection.start.line, end: selection.end.line };
}

function isPlace(value: unknown): value is ProblemPlace {
  return typeof value === "object" && value !== null && "uri" in value && "start" in value && "end" in value;
}

/** `src/menu.ts:12:5: error: message (source code)`. */
function problemLine(path: string, { range: { start }, severity, message, source, code }: vscode.Diagnostic): string {
  const name = typeof code === "object" ? code.value : code;
  const origin = [source, name].filter((part) => part !== undefined).join(" ");
  const suffix = origin === "" ? "" : ` (${origin})`;
  return `${path}:${start.line + 1}:${start.character + 1}: ${SEVERITIES[severity]}: ${message}${suffix}`;
}
