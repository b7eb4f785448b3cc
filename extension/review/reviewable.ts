/** Texts whose hunks wait for a verdict: edits that have landed, and proposals that wait to be written. */
import type * as vscode from "vscode";
import type { Hunk } from "./hunks.ts";
import type { ReviewedText } from "./reviewed-text.ts";

export type Reviewable = {
  /** In the order in which they came up for review. */
  readonly texts: readonly ReviewedText[];
  /** Tells the path of a text that changed or is no longer under review. */
  readonly onDidChange: vscode.Event<string>;
  find(path: string): ReviewedText | undefined;
  /** The hunk is right: it is no longer up for review. */
  keep(path: string, hunk: Hunk): void;
  /** The old lines come back. Rejects when the file cannot be changed. */
  undo(path: string, hunk: Hunk): Promise<void>;
  keepFile(path: string): void;
  undoFile(path: string): Promise<void>;
};
