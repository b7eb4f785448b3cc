/** Hunks in the editor: coloured lines, removed text as a ghost and in the hover, overview marks, and lenses. */
import * as vscode from "vscode";
import { minimalEdit } from "../documents/guarded-edit.ts";
import type { Hunk } from "./hunks.ts";
import { GONE_SCHEME, PROPOSAL_SCHEME, type Review } from "./review.ts";

export class HunkMarks implements vscode.Disposable {
  readonly #review: Review;
  readonly #added = lineDecoration("hermes.addedLineBackground", "hermes.addedOverviewRuler");
  readonly #changed = lineDecoration("hermes.changedLineBackground", "hermes.changedOverviewRuler");
  readonly #removed = vscode.window.createTextEditorDecorationType({
    overviewRulerColor: new vscode.ThemeColor("hermes.removedOverviewRuler"),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
  readonly #subscriptions: vscode.Disposable[];

  constructor(review: Review) {
    this.#review = review;
    this.#subscriptions = [
      this.#added,
      this.#changed,
      this.#removed,
      review.onDidChange((uri) => this.#mark((shown) => shown.toString() === uri.toString())),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#mark(() => true)),
    ];
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #mark(isMeant: (uri: vscode.Uri) => boolean): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      if ((document.uri.scheme !== "file" && document.uri.scheme !== "untitled") || !isMeant(document.uri)) continue;
      const hunks = this.#review.hunks(document.uri);
      const withNew = hunks.filter(({ newLines }) => newLines.length > 0);
      editor.setDecorations(this.#added, withNew.filter(({ oldLines }) => oldLines.length === 0).map(rangeOf));
      editor.setDecorations(this.#changed, withNew.filter(({ oldLines }) => oldLines.length > 0).map(rangeOf));
      editor.setDecorations(
        this.#removed,
        hunks.filter(({ oldLines }) => oldLines.length > 0).map((hunk) => removedMark(hunk, document)),
      );
    }
  }
}

function lineDecoration(background: string, overview: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(background),
    overviewRulerColor: new vscode.ThemeColor(overview),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}

function rangeOf({ newStart, newLines }: Hunk): vscode.Range {
  return new vscode.Range(newStart, 0, newStart + newLines.length - 1, 0);
}

/** Next to the hunk's first line, or to the line that follows the removed text. */
function removedMark(hunk: Hunk, document: vscode.TextDocument): vscode.DecorationOptions {
  const { end } = document.lineAt(Math.min(hunk.newStart, document.lineCount - 1)).range;
  const removed = new vscode.MarkdownString(vscode.l10n.t("Before Hermes:")).appendCodeblock(
    hunk.oldLines.join(""),
    document.languageId,
  );
  const ghost = ghostText(hunk);
  const range = new vscode.Range(end, end);
  if (ghost === "") return { range, hoverMessage: removed };
  const after = {
    contentText: ghost,
    margin: "0 0 0 2em",
    color: new vscode.ThemeColor("hermes.removedTextForeground"),
    textDecoration: "line-through",
  };
  return { range, hoverMessage: removed, renderOptions: { after } };
}

const SELECTOR = [{ scheme: "file" }, { scheme: "untitled" }, { scheme: PROPOSAL_SCHEME }, { scheme: GONE_SCHEME }];

/** Keep, Undo and Next above each hunk, in the file itself and in a proposal. */
export class HunkLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #review: Review;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(review: Review) {
    this.#review = review;
    this.#subscriptions = [
      this.#changed,
      review.onDidChange(() => this.#changed.fire()),
      vscode.languages.registerCodeLensProvider(SELECTOR, this),
    ];
  }

  provideCodeLenses({ uri, lineCount }: vscode.TextDocument): vscode.CodeLens[] {
    const hunks = this.#review.hunks(uri);
    const isProposal = uri.scheme === PROPOSAL_SCHEME;
    return hunks.flatMap((hunk, index) => {
      const line = Math.min(hunk.newStart, lineCount - 1);
      const lens = (title: string, tooltip: string, command: string): vscode.CodeLens =>
        new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
          title,
          tooltip,
          command,
          arguments: [uri.toString(), hunk],
        });
      const decisions = isProposal
        ? [
            lens(
              `$(check)\u00a0${vscode.l10n.t("Accept {0}", count(hunk))}`,
              vscode.l10n.t("Write these lines"),
              "hermes.keepHunk",
            ),
            lens(
              `$(close)\u00a0${vscode.l10n.t("Reject")}`,
              vscode.l10n.t("Do not write these lines"),
              "hermes.undoHunk",
            ),
          ]
        : [
            lens(
              `$(check)\u00a0${vscode.l10n.t("Keep {0}", count(hunk))}`,
              vscode.l10n.t("Keep these lines"),
              "hermes.keepHunk",
            ),
            lens(`$(discard)\u00a0${vscode.l10n.t("Undo")}`, vscode.l10n.t("Restore the old lines"), "hermes.undoHunk"),
          ];
      const next = vscode.l10n.t("Next ({0} of {1})", index + 1, hunks.length);
      return hunks.length > 1
        ? [...decisions, lens(next, vscode.l10n.t("Go to the next hunk"), "hermes.nextHunk")]
        : decisions;
    });
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

function count({ newLines, oldLines }: Hunk): string {
  return [newLines.length > 0 ? `+${newLines.length}` : "", oldLines.length > 0 ? `−${oldLines.length}` : ""]
    .filter((part) => part !== "")
    .join(" ");
}

/** Limit of a ghost text; the hover and the gutter's peek show all of it. Characters. */
const MAX_CHARS = 40;

/** Removed text beside a hunk: of a single changed line only its removed part. Empty when nothing was removed. */
export function ghostText({ oldLines, newLines }: Hunk): string {
  const [oldLine = "", ...more] = oldLines;
  const [newLine, ...others] = newLines;
  if (newLine !== undefined && more.length === 0 && others.length === 0) return cut(removedPart(oldLine, newLine));
  const first = oldLines.map((line) => line.trim()).find((line) => line !== "");
  const count = oldLines.length === 1 ? vscode.l10n.t("1 line") : vscode.l10n.t("{0} lines", oldLines.length);
  if (first === undefined) return count;
  return oldLines.length === 1 ? cut(first) : `${cut(first)} (${count})`;
}

function removedPart(oldLine: string, newLine: string): string {
  const edit = minimalEdit(oldLine, newLine);
  return edit === undefined ? "" : oldLine.slice(edit.start, edit.end).trim();
}

function cut(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}
