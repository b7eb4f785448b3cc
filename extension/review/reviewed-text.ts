/** A file under review: its baseline, its present text, the hunks between them, and their changes. Pure. */
import type * as vscode from "vscode";
import { type Hunk, hunksBetween } from "../../agent-core/platform/hunks.ts";
import { normalised, onlyLineEnd } from "../documents/line-ends.ts";
import { hunksWithoutKept, hunksWithoutUndone, keepHunk, sameHunk, undoHunk } from "./hunks.ts";
import { rebaseHunks, withEdit } from "./rebase-hunks.ts";

/**
 * `path` is absolute; `baseline` is null where there was no file before. `isGone`: the agent has removed the file, and
 * `present` is empty; `hasMark`: it began with a byte order mark. Never changed in place.
 */
export type ReviewedText = {
  readonly path: string;
  readonly baseline: string | null;
  readonly present: string;
  readonly hunks: readonly Hunk[];
  readonly isGone?: true;
  readonly hasMark?: true;
};

type Content = Omit<ReviewedText, "hunks">;

/** Compares the two texts, which pairs equal lines by guess; a text that is known already changes by the functions below. */
export function reviewedText(content: Content): ReviewedText {
  return { ...content, hunks: hunksBetween(content.baseline ?? "", content.present) };
}

/** Text of the file; null when it is gone. */
export function textInFile({ present, isGone }: ReviewedText): string | null {
  return isGone ? null : present;
}

/** Reviewed text after an edit by the agent: the first one, or one of a known text. */
export function afterEdit(
  known: ReviewedText | undefined,
  path: string,
  before: string | null,
  after: string,
): ReviewedText {
  if (known === undefined || known.isGone) {
    return reviewedText({ path, baseline: known === undefined ? before : known.baseline, present: after });
  }
  const { baseline, present } = known;
  return { path, baseline, present: after, hunks: withEdit({ ...sidesOf(known), before: present }, after) };
}

/**
 * Reviewed text after somebody else's change. Lines that they insert, or change outside the agent's hunks, move the
 * baseline; a change of the agent's lines becomes a part of the hunk.
 */
export function afterForeignChange(text: ReviewedText, present: string): ReviewedText {
  const known = inLineEndsOf(text, present);
  const rebased = rebaseHunks(sidesOf(known), present);
  const baseline = known.baseline === null && rebased.text === "" ? null : rebased.text;
  return { path: text.path, baseline, present, hunks: rebased.hunks };
}

/** Reviewed text with one hunk kept, or all; undefined when the hunk is no longer up for review. */
export function withKept(text: ReviewedText, wanted: Hunk | undefined): ReviewedText | undefined {
  if (wanted === undefined) return { ...text, baseline: text.present, hunks: [] };
  const hunk = sameHunk(text.hunks, wanted);
  if (hunk === undefined) return undefined;
  return { ...text, baseline: keepHunk(text.baseline ?? "", hunk), hunks: hunksWithoutKept(text.hunks, hunk) };
}

/** Reviewed text with one hunk reverted, or all; undefined when the hunk is no longer up for review. */
export function withUndone(text: ReviewedText, wanted: Hunk | undefined): ReviewedText | undefined {
  const { path, baseline, present, hunks } = text;
  if (wanted === undefined) return { path, baseline, present: baseline ?? "", hunks: [] };
  const hunk = sameHunk(hunks, wanted);
  if (hunk === undefined) return undefined;
  return { path, baseline, present: undoHunk(present, hunk), hunks: hunksWithoutUndone(hunks, hunk) };
}

function sidesOf({ baseline, present, hunks }: ReviewedText): Parameters<typeof rebaseHunks>[0] {
  return { text: baseline ?? "", before: present, hunks };
}

/** Normalising line ends changes no line: VS Code does it when the user types in a file with several kinds. */
function inLineEndsOf(text: ReviewedText, present: string): ReviewedText {
  const lineEnd = onlyLineEnd(present);
  if (lineEnd === undefined || normalised(text.present, lineEnd) === text.present) return text;
  const { path, baseline } = text;
  return reviewedText({
    path,
    baseline: baseline === null ? null : normalised(baseline, lineEnd),
    present: normalised(text.present, lineEnd),
  });
}

/** Texts whose hunks wait for a decision: applied edits, or proposals. */
export type Reviewable = {
  /** In the order in which their reviews began. */
  readonly texts: readonly ReviewedText[];
  /** Emits the path of a text that changed or is no longer under review. */
  readonly onDidChange: vscode.Event<string>;
  find(path: string): ReviewedText | undefined;
  /** Ends the review of a hunk, default: of the file; its lines stay. */
  keep(path: string, hunk: Hunk | undefined): void;
  /** Restores the old lines of a hunk, default: of the file. Rejects when the file cannot be changed. */
  undo(path: string, hunk: Hunk | undefined): Promise<void>;
};

/** Waits for the work on several files, and rejects with the first reason at its end. */
export async function all(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
