/** Diff of a hunk on hovering over any of its lines, with links that decide about it. */
import * as vscode from "vscode";
import type { Hunk } from "../../agent-core/platform/hunks.ts";
import { REVIEWED_DOCUMENTS } from "./hunk-lenses.ts";
import { type ShownHunk, shownHunks } from "./notebook-hunks.ts";
import { PROPOSAL_SCHEME, type Review } from "./review.ts";
import { type Span, wordDiff } from "./word-diff.ts";

/** Lines of a side; the diff editor shows all. */
const MAX_LINES = 20;

/** Characters of a line. */
const MAX_CHARS = 400;

export function registerHunkHover(review: Review): vscode.Disposable {
  return vscode.languages.registerHoverProvider(REVIEWED_DOCUMENTS, {
    provideHover(document, { line }) {
      const shown = shownHunks(review, document);
      // Removed text is between lines: it shows on the line below, which may be a hunk itself, or on the last one.
      const over =
        shown.find(({ hunk: { newStart, newLines } }) => line >= newStart && line < newStart + newLines.length) ??
        shown.find(
          ({ hunk: { newStart, newLines } }) => newLines.length === 0 && [newStart, newStart - 1].includes(line),
        );
      return over && new vscode.Hover(hunkHover(over));
    },
  });
}

/** Links and the diff with its words marked. */
export function hunkHover({ hunk, file, decided }: ShownHunk): vscode.MarkdownString {
  const args = encodeURIComponent(JSON.stringify([file.toString(), decided.newStart]));
  const isProposal = file.scheme === PROPOSAL_SCHEME;
  const links = [
    [`$(check) ${isProposal ? vscode.l10n.t("Accept") : vscode.l10n.t("Keep")}`, "hermes.keepHunk"],
    [`$(discard) ${isProposal ? vscode.l10n.t("Reject") : vscode.l10n.t("Undo")}`, "hermes.undoHunk"],
    [`$(comment-discussion) ${vscode.l10n.t("Explain")}`, "hermes.explainHunk"],
    [`$(diff) ${vscode.l10n.t("Diff")}`, "hermes.toggleDiff"],
  ];
  const hover = new vscode.MarkdownString(undefined, true);
  hover.supportHtml = true;
  hover.isTrusted = { enabledCommands: links.map(([, command = ""]) => command) };
  hover.appendMarkdown(links.map(([title, command]) => `[${title}](command:${command}?${args})`).join(" &nbsp; "));
  return hover.appendMarkdown(`\n\n<pre>${diffAsHtml(hunk)}</pre>`);
}

function diffAsHtml(hunk: Hunk): string {
  const { inserted, removed } = wordDiff(hunk.oldLines, hunk.newLines);
  const sides = [
    { sign: "−", name: "removed", lines: hunk.oldLines, words: removed.map(({ old }) => old) },
    { sign: "+", name: "added", lines: hunk.newLines, words: inserted },
  ];
  const rows = sides.flatMap(({ sign, name, lines, words }) => {
    const shown = lines.slice(0, MAX_LINES).map((text, line) => {
      const marked = markedLine(
        text,
        words.filter((span) => span.line === line),
        name,
      );
      return `<span style="background-color:var(--vscode-hermes-${name}LineBackground);">${sign} ${marked}</span>`;
    });
    const more = lines.length - shown.length;
    return more > 0 ? [...shown, `${sign} ${escaped(vscode.l10n.t("{0} more lines", more))}`] : shown;
  });
  return rows.join("<br>");
}

function markedLine(text: string, words: readonly Span[], name: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of words) {
    const word = `<span style="background-color:var(--vscode-hermes-${name}TextBackground);">${escaped(text.slice(start, end))}</span>`;
    parts.push(escaped(text.slice(at, start)), word);
    at = end;
  }
  return [...parts, escaped(text.slice(at, Math.max(at, MAX_CHARS)).replace(/\r?\n$/, ""))].join("");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
