/** Keep, Undo, Next and the old text above each hunk, in the file itself and in a proposal. */
import * as vscode from "vscode";
import type { Hunk } from "../../agent-core/platform/hunks.ts";
import { hunkLook, movesOf } from "./hunk-look.ts";
import { isWrapped } from "./hunk-marks.ts";
import { CELL_SCHEME, shownHunks } from "./notebook-hunks.ts";
import { GONE_SCHEME, PROPOSAL_SCHEME, type Review } from "./review.ts";

export const REVIEWED_DOCUMENTS = [
  { scheme: "file" },
  { scheme: "untitled" },
  { scheme: CELL_SCHEME },
  { scheme: PROPOSAL_SCHEME },
  { scheme: GONE_SCHEME },
];

/** Shows the lenses, until the result is disposed of. */
export function registerHunkLenses(review: Review): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  return vscode.Disposable.from(
    changed,
    review.onDidChange(() => changed.fire()),
    vscode.languages.registerCodeLensProvider(REVIEWED_DOCUMENTS, {
      onDidChangeCodeLenses: changed.event,
      provideCodeLenses: (document) => lensesOf(review, document),
    }),
  );
}

export function lensesOf(review: Review, document: vscode.TextDocument): vscode.CodeLens[] {
  const { uri, lineCount } = document;
  const shown = shownHunks(review, document);
  const isInWrappedText = isWrapped(document);
  const isNew = review.find(shown[0]?.file ?? uri)?.baseline === null;
  const moves = movesOf(shown.map(({ hunk }) => hunk));
  return shown.flatMap(({ hunk, file, decided }) => {
    const all = review.hunks(file);
    const lens = (offset: number, { title, tooltip, command }: Button): vscode.CodeLens => {
      const line = Math.min(hunk.newStart + offset, lineCount - 1);
      const range = new vscode.Range(line, 0, line, 0);
      return new vscode.CodeLens(range, { title, tooltip, command, arguments: [file.toString(), decided] });
    };
    const next = vscode.l10n.t("Next ({0} of {1})", all.indexOf(decided) + 1, all.length);
    const goOn = { title: next, tooltip: vscode.l10n.t("Go to the Next Hunk"), command: "hermes.nextHunk" };
    const move = moves.get(hunk);
    const notes = [
      ...(isNew ? [vscode.l10n.t("New file")] : []),
      ...(count(hunk) === "" ? [vscode.l10n.t("Outputs or metadata of the cell changed")] : []),
      ...(move === undefined ? [] : [moveNote(hunk, move)]),
    ].map((text) => ({ line: 0, text }));
    const tooltip = vscode.l10n.t("Show in the Diff Editor");
    return [
      ...decisions(hunk, uri.scheme === PROPOSAL_SCHEME).map((button) => lens(0, button)),
      ...(all.length > 1 ? [lens(0, goOn)] : []),
      ...[...notes, ...hunkLook(hunk, isInWrappedText).captions].map(({ line, text }) =>
        lens(line, {
          title: text.replaceAll(/\$\((?=[\w-]+(?:~\w+)?\))/g, "\\$("),
          tooltip,
          command: "hermes.toggleDiff",
        }),
      ),
    ];
  });
}

type Button = { readonly title: string; readonly tooltip: string; readonly command: string };

function decisions(hunk: Hunk, isProposal: boolean): readonly Button[] {
  const [keep, keepTip, undo, undoTip, icon] = isProposal
    ? [
        vscode.l10n.t("Accept {0}", count(hunk)).trim(),
        vscode.l10n.t("Write These Lines"),
        vscode.l10n.t("Reject"),
        vscode.l10n.t("Do Not Write These Lines"),
        "$(close)",
      ]
    : [
        vscode.l10n.t("Keep {0}", count(hunk)).trim(),
        vscode.l10n.t("Keep These Lines"),
        vscode.l10n.t("Undo"),
        vscode.l10n.t("Restore the Old Lines"),
        "$(discard)",
      ];
  return [
    { title: `$(check)\u00a0${keep}`, tooltip: keepTip, command: "hermes.keepHunk" },
    { title: `${icon}\u00a0${undo}`, tooltip: undoTip, command: "hermes.undoHunk" },
  ];
}

function moveNote({ newLines }: Hunk, { newStart }: Hunk): string {
  return newLines.length === 0
    ? vscode.l10n.t("moved to line {0}", newStart + 1)
    : vscode.l10n.t("moved from line {0}", newStart + 1);
}

function count({ newLines, oldLines }: Hunk): string {
  return [newLines.length > 0 ? `+${newLines.length}` : "", oldLines.length > 0 ? `−${oldLines.length}` : ""]
    .filter((part) => part !== "")
    .join(" ");
}
