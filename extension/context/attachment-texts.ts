/** Texts of attachments at the moment of sending: lines, problems, terminals, changes, sessions. */
import * as vscode from "vscode";
import { call } from "../../agent-core/protocol/method.ts";
import { sessionMethods } from "../../agent-core/protocol/sessions.ts";
import type { AgentWorker } from "../agent/agent-worker.ts";
import { changesSinceCommit } from "../commands/git-repository.ts";
import type { AttachmentTexts } from "./prompt-blocks.ts";
import type { TerminalOutputs } from "./terminal-outputs.ts";

/** Limit of the listed problems; errors come first. */
const MAX_PROBLEMS = 200;
/** Limit of a diff, about 25,000 tokens. Characters. */
const MAX_DIFF_CHARS = 100_000;
/** Limit of an earlier session, about 25,000 tokens. Its end has the result. Characters. */
const MAX_SESSION_CHARS = 100_000;

export function attachmentTexts(
  worker: Pick<AgentWorker, "agent">,
  terminals: Pick<TerminalOutputs, "textOf">,
): AttachmentTexts {
  return {
    lines: async ({ uri, start, end }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
      if (start > document.lineCount) throw new Error(`the file has only ${document.lineCount} lines now`);
      const last = document.lineAt(Math.min(end, document.lineCount) - 1);
      return document.getText(new vscode.Range(new vscode.Position(start - 1, 0), last.range.end));
    },
    problems: async ({ uri }) => problemsText(uri === undefined ? undefined : vscode.Uri.parse(uri, true)),
    terminal: async ({ name }) => terminals.textOf(name),
    changes: async () => {
      const changes = await changesSinceCommit();
      if (changes.trim() === "") return "There are no changes since the last commit.";
      if (changes.length <= MAX_DIFF_CHARS) return changes;
      return `${changes.slice(0, MAX_DIFF_CHARS).toWellFormed()}\n[… cut; git diff shows the rest]`;
    },
    session: async ({ sessionId }) => {
      const exported = { sessionId, format: "markdown" } as const;
      const { text } = await call(await worker.agent(), sessionMethods.export, exported);
      if (text.length <= MAX_SESSION_CHARS) return text;
      return `[… the beginning is left out]\n${text.slice(-MAX_SESSION_CHARS).toWellFormed()}`;
    },
  };
}

const SEVERITIES = ["error", "warning", "information", "hint"];

/** A line for each problem: `src/a.ts:3: error: message (source)`. */
function problemsText(uri: vscode.Uri | undefined): string {
  const files: readonly [vscode.Uri, readonly vscode.Diagnostic[]][] =
    uri === undefined ? vscode.languages.getDiagnostics() : [[uri, vscode.languages.getDiagnostics(uri)]];
  const problems = files
    .flatMap(([file, list]) => list.map((problem) => ({ file, ...problem, line: problem.range.start.line + 1 })))
    .sort((one, other) => one.severity - other.severity);
  if (problems.length === 0) return "There are no problems.";
  const lines = problems.slice(0, MAX_PROBLEMS).map(({ file, line, severity, message, source }) => {
    const place = `${vscode.workspace.asRelativePath(file)}:${line}`;
    return `${place}: ${SEVERITIES[severity]}: ${message}${source === undefined ? "" : ` (${source})`}`;
  });
  const rest = problems.length - lines.length;
  return [...lines, ...(rest > 0 ? [`[… ${rest} more problems]`] : [])].join("\n");
}
