/** An edit of one file by a tool: worked out from the text that the model knows, applied to the text that is there. */
import type { FileFailure, FileWritten, WriteReview } from "../host/host.ts";
import { hunksBetween } from "../platform/hunks.ts";
import { shownPath } from "./shown-path.ts";
import type { FileDiff, StagedCall, ToolContext, ToolResult } from "./tool.ts";
import { diffLines, unifiedDiff } from "./unified-diff.ts";

export type FileEdit = {
  /** For messages. */
  readonly tool: string;
  /** Absolute. */
  readonly path: string;
  /** Null for a new file. */
  readonly oldText: string | null;
  readonly newText: string;
  /** Text that the edit was made for, where the file holds another one now, `oldText`. */
  readonly base?: string;
  /** Makes the same change in another text of the file; undefined where its place is not there exactly once. */
  readonly exactly?: (text: string) => string | undefined;
  /** `newText` is what the editor's formatter made of the edit as it saved the file. */
  readonly isFormatted?: boolean;
};

/** Lines of a diff that shows changes by others: enough to see what they are about. */
const SHOWN_LINES = 40;
/** Fewer where the diff of the edit itself precedes it. */
const UNSEEN_LINES = 30;
/** A person who types can change the file between two writes; a program that never stops must not hold the call. */
const WRITE_ATTEMPTS = 20;

type Ports = Pick<ToolContext, "files" | "cwd">;

/** Reason to refuse an edit of a text that the model has not seen; undefined when it knows the text, or never read it. */
export function staleReason(path: string, present: string, { files, cwd }: Ports): string | undefined {
  const known = files.recall(path);
  if (known === undefined || known === present) return undefined;
  const shown = shownPath(path, cwd);
  const what = `What changed:\n${unifiedDiff(shown, known, present, SHOWN_LINES)}`;
  const undone = countUndone(known, present, files.textsBefore(path));
  if (undone === 0) return `${shown} has changed since you read it; nothing was written. Read it again. ${what}`;
  return `The user (or a command) undid ${editsOf(undone)} in ${shown}; nothing was written. Do not repeat what was undone unless asked to, and read the file again before you change it. ${what}`;
}

/** Undefined when the model never read the missing file. Given once: after it the model may create the file anew. */
export function deletedReason(path: string, { files, cwd }: Ports): string | undefined {
  if (files.recall(path) === undefined) return undefined;
  files.forget(path);
  return `${shownPath(path, cwd)} has been deleted or moved since you read it; nothing was written.`;
}

/**
 * Text of the file after an edit that was made for `base`, where `present` is there now. Undefined unless the edit has its
 * place exactly once in both, and when it would restore what the user or another program has changed.
 */
export function rebaseEdit(
  { exactly }: Pick<FileEdit, "exactly">,
  { base, present }: { readonly base: string; readonly present: string },
): string | undefined {
  if (exactly?.(base) === undefined) return undefined;
  const rebased = exactly(present);
  if (rebased === undefined) return undefined;
  const restoring = new Set(changes(present, base));
  return changes(present, rebased).some((change) => restoring.has(change)) ? undefined : rebased;
}

export function stageEdit(edit: FileEdit, context: ToolContext): StagedCall {
  const { tool, path, oldText, newText } = edit;
  return {
    ok: true,
    diffs: [{ path, oldText, newText }],
    async run() {
      const done = await writeEdit(edit, context);
      if (!done.ok) return { ok: false, text: `${tool}: ${done.message}` };
      if (done.review !== undefined) return reviewedResult(done.edit, done.review, context);
      return editResult(done.edit, context);
    },
  };
}

/** Writes an edit; where the file has changed since, and the edit fits its present text exactly, writes it to that. */
export async function writeEdit(
  edit: FileEdit,
  { host, signal }: Pick<ToolContext, "host" | "signal">,
): Promise<(FileWritten & { readonly edit: FileEdit }) | FileFailure> {
  const base = edit.base ?? edit.oldText;
  let fitted = edit;
  for (let attemptsLeft = WRITE_ATTEMPTS - 1; ; attemptsLeft -= 1) {
    const { path, oldText: expected, newText: after } = fitted;
    const written = await host.files.guardedWrite({ path, expected, after, purpose: "edit" }, signal);
    if (written.ok) {
      const { formatted } = written;
      return {
        ...written,
        edit: { ...fitted, ...(formatted !== undefined && { newText: formatted, isFormatted: true }) },
      };
    }
    const present = written.reason === "conflict" ? written.present : undefined;
    if (attemptsLeft === 0 || base === null || typeof present !== "string") return written;
    const newText = rebaseEdit(edit, { base, present });
    if (newText === undefined) return written;
    fitted = { ...edit, base, oldText: present, newText };
  }
}

/** Result of an edit that was written whole; `what` begins it. */
export function editResult(edit: FileEdit, context: Ports, what = done(edit, context)): ToolResult {
  const { path, oldText, newText } = edit;
  const shown = shownPath(path, context.cwd);
  const rebase = notedRebase(edit, newText, context);
  const format = edit.isFormatted ? " The editor formatted the file as it saved it; the diff shows the result." : "";
  const text = `${what}${rebase.note}${format}\n${unifiedDiff(shown, oldText ?? "", newText)}`.trimEnd();
  return { ok: true, text: text + rebase.unseen, diffs: [{ path, oldText, newText }] };
}

function done({ path, oldText, newText }: FileEdit, { cwd }: Ports): string {
  const count = newText === "" ? 0 : newText.replace(/\n$/, "").split("\n").length;
  const lines = oldText === null ? ` (${count} ${count === 1 ? "line" : "lines"})` : "";
  return `${verbFor(oldText, newText)} ${shownPath(path, cwd)}${lines}.`;
}

/** Result of an edit about which the user decided before it was written. */
export function reviewedResult(edit: FileEdit, review: WriteReview, context: Ports): ToolResult {
  const { text, accepted = text, kept, rejected } = review;
  const { tool, path, oldText, newText } = edit;
  const shown = shownPath(path, context.cwd);
  if (text === null) context.files.forget(path);
  const rebase = text === null ? NO_NOTE : notedRebase(edit, text, context);
  const hunks = kept + rejected === 1 ? "the change" : `all ${kept + rejected} changes`;
  if (kept === 0) {
    const text = `${tool}: the user reviewed and rejected ${hunks}; nothing was written to ${shown}.`;
    return { ok: false, text, rejected: true };
  }
  const diffs: readonly FileDiff[] = [{ path, oldText, newText: text }];
  const what = verbFor(oldText, text);
  const written = unifiedDiff(shown, oldText ?? "", text ?? "");
  if (rejected === 0) {
    const whole = `${what} ${shown}; the user accepted ${hunks}.${rebase.note}\n${written}`;
    return { ok: true, text: whole + rebase.unseen, diffs };
  }
  const missing = unifiedDiff(shown, accepted ?? "", newText);
  const decision = `the user accepted ${kept} of ${kept + rejected} changes`;
  const partly = `${what} ${shown}, but ${decision}.${rebase.note} Written:\n${written}\nRejected by the user, not in the file:\n${missing}`;
  return { ok: true, text: partly + rebase.unseen, diffs };
}

/** Verb for a change of a file; null: no file. */
export function verbFor(oldText: string | null, text: string | null): string {
  if (text === null) return "Deleted";
  return oldText === null ? "Created" : "Changed";
}

/** Sentence about changes by others under an edit, and their diff; both empty when there were none. */
type RebaseNote = { readonly note: string; readonly unseen: string };

const NO_NOTE: RebaseNote = { note: "", unseen: "" };

/** Notes the text that the model knows from now on: all of the file only when it is shown all that others changed. */
function notedRebase(
  { path, oldText, base, exactly }: Omit<FileEdit, "tool" | "newText">,
  written: string,
  { files, cwd }: Ports,
): RebaseNote {
  if (base === undefined || oldText === null) {
    files.wrote(path, oldText ?? "", written);
    return NO_NOTE;
  }
  const undone = countUndone(base, oldText, files.textsBefore(path));
  const shown = shownPath(path, cwd);
  const unseen = diffLines(shown, base, oldText);
  const isShownWhole = unseen !== undefined && unseen.length <= UNSEEN_LINES;
  files.wrote(path, oldText, isShownWhole ? written : (exactly?.(base) ?? base));
  const again = isShownWhole ? "" : "\nRead the file again before you edit those parts.";
  const repeat = undone === 0 ? "" : ` They undid ${editsOf(undone)}: do not repeat what was undone unless asked to.`;
  return {
    note: ` The file had changed since it was read: your edit was applied to its current text, and the other changes were kept.${repeat}`,
    unseen: `\nChanges by the user or a command that you had not seen:\n${unifiedDiff(shown, base, oldText, UNSEEN_LINES)}${again}`,
  };
}

function editsOf(count: number): string {
  return count === 1 ? "1 of your edits" : `${count} of your edits`;
}

/**
 * Number of changes from `known` (the text that the model left) to `present` that restore lines as one of the texts
 * before its edits had them.
 */
function countUndone(known: string, present: string, textsBefore: readonly string[]): number {
  if (textsBefore.length === 0) return 0;
  const undoing = new Set(textsBefore.flatMap((before) => changes(known, before)));
  return changes(known, present).filter((change) => undoing.has(change)).length;
}

/** Changes, each by its place in the old text and its lines. */
function changes(from: string, to: string): readonly string[] {
  const hunks = hunksBetween(from, to);
  return hunks.map(({ oldStart, oldLines, newLines }) => JSON.stringify([oldStart, oldLines, newLines]));
}

/** By the number of edits in a row that the file has refused: a model that guesses needs plainer advice. */
const ADVICE: readonly string[] = [
  "",
  " This is the second edit in a row that this file refuses: read the part you mean with read_file before the next try.",
  " Do not guess again: read the file with read_file and copy its exact text, or give the whole new text with write_file.",
];

/** Refusal of an edit whose place was not found; `path` is absolute. */
export function refusedEdit(path: string, text: string, { files }: ToolContext): StagedCall {
  const times = files.refused(path);
  const advice = ADVICE[Math.min(times, ADVICE.length) - 1] ?? "";
  return { ok: false, text: `patch: ${text}${advice}` };
}
