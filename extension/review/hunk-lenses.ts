/** Keep, Undo and Next over each hunk, in the file itself and in a proposal. */
import * as vscode from "vscode";
import type { Hunk } from "./hunks.ts";
import { GONE_SCHEME, PROPOSAL_SCHEME, type Review } from "./review.ts";

const SELECTOR = [{ scheme: "file" }, { scheme: "untitled" }, { scheme: PROPOSAL_SCHEME }, { scheme: GONE_SCHEME }];

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
      const verdicts = isProposal
        ? [
            lens(`$(check)\u00a0Accept ${count(hunk)}`, "Write these lines", "hermes.keepHunk"),
            lens("$(close)\u00a0Reject", "Do not write these lines", "hermes.undoHunk"),
          ]
        : [
            lens(`$(check)\u00a0Keep ${count(hunk)}`, "These lines are right", "hermes.keepHunk"),
            lens("$(discard)\u00a0Undo", "Put the old lines back", "hermes.undoHunk"),
          ];
      const next = `Next (${index + 1} of ${hunks.length})`;
      return hunks.length > 1 ? [...verdicts, lens(next, "Go to the next hunk", "hermes.nextHunk")] : verdicts;
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
