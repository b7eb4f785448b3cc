/** Messages of the panel about attachments: the search after `@`, drops, the dialog for files, the suggestion. */
import { basename } from "node:path";
import * as vscode from "vscode";
import type { Attachment } from "../../../agent-core/protocol/attachments.ts";
import type { AttachmentTexts } from "../../context/prompt-blocks.ts";
import type { Services } from "../../services.ts";
import type { PanelActions } from "../panel-page.ts";
import type { ChatPanel } from "../panels.ts";
import { withErrorMessage } from "../with-error-message.ts";

type ContextActions = PanelActions<"mention-search" | "attach-dropped" | "attach-pick" | "attach-suggested">;

/** Matches of one search. */
const MAX_MATCHES = 50;

export function contextActions({ panels }: Pick<Services, "panels">, { connection }: ChatPanel): ContextActions {
  const attach = (attachments: readonly Attachment[]): void => connection.command({ kind: "attach", attachments });
  return {
    "mention-search": async ({ id, query }) => {
      const found = await vscode.workspace.findFiles(`**/*${query}*`, undefined, MAX_MATCHES);
      const items = found.map((uri) => ({
        attachment: fileAttachment(uri),
        detail: vscode.workspace.asRelativePath(uri),
        icon: "file",
        marks: [],
      }));
      connection.mentions({ id, items, isComplete: true });
    },
    "attach-dropped": ({ uris }) => attach(uris.map((uri) => fileAttachment(vscode.Uri.parse(uri, true)))),
    "attach-pick": () =>
      withErrorMessage("The files cannot be attached", async () => {
        const picked = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel: "Attach" });
        if (picked !== undefined) attach(picked.map(fileAttachment));
      }),
    "attach-suggested": ({ on }) => panels.setFacts({ isSuggesting: on }),
  };
}

function fileAttachment(uri: vscode.Uri): Attachment {
  return { kind: "file", uri: uri.toString(), label: basename(uri.path) };
}

/** Texts of attachments at the moment of sending. */
export function attachmentTexts(): AttachmentTexts {
  return {
    lines: async ({ uri, start, end }) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
      if (start > document.lineCount) throw new Error(`the file now has ${document.lineCount} lines`);
      return document.getText(new vscode.Range(start - 1, 0, end, 0)).replace(/\r?\n$/, "");
    },
    problems: async ({ uri }) => problemsText(uri === undefined ? undefined : vscode.Uri.parse(uri, true)),
    terminal: () => Promise.reject(new Error("its output cannot be read yet")),
    changes: () => Promise.reject(new Error("they cannot be read yet")),
    session: () => Promise.reject(new Error("it cannot be read yet")),
  };
}

const SEVERITIES = ["error", "warning", "information", "hint"];

function problemsText(uri: vscode.Uri | undefined): string {
  const files: readonly [vscode.Uri, readonly vscode.Diagnostic[]][] =
    uri === undefined ? vscode.languages.getDiagnostics() : [[uri, vscode.languages.getDiagnostics(uri)]];
  const lines = files.flatMap(([file, problems]) =>
    problems.map(({ range, severity, message, source }) => {
      const place = `${vscode.workspace.asRelativePath(file)}:${range.start.line + 1}`;
      return `${place}: ${SEVERITIES[severity]}: ${message}${source === undefined ? "" : ` (${source})`}`;
    }),
  );
  return lines.length === 0 ? "There are no problems." : lines.join("\n");
}
