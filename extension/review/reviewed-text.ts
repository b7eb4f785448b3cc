/** A file under review: its text before the agent and now, the hunks between them, and what becomes of it. Pure. */
import { evened, onlyLineEnd } from "../documents/line-ends.ts";
import { carryChange, withEdit } from "./carry-change.ts";
import {
  type Hunk,
  hunksBetween,
  hunksWithoutKept,
  hunksWithoutUndone,
  keepHunk,
  sameHunk,
  undoHunk,
} from "./hunks.ts";

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

/** Compares the two texts: whose lines are equal ones is a guess then, so a text that is known goes on by the others. */
export function reviewedText(content: Content): ReviewedText {
  return { ...content, hunks: hunksBetween(content.baseline ?? "", content.present) };
}

/** What stands in the file: null when it is gone. */
export function textInFile({ present, isGone }: ReviewedText): string | null {
  return isGone ? null : present;
}

/** After the agent's edit of what is known of the file, or of its first one. */
export function edited(
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
 * After somebody else's change: lines they put in and what they changed outside the agent's hunks are theirs and move
 * the baseline too; a change of the agent's lines stays the hunk's.
 */
export function followed(text: ReviewedText, present: string): ReviewedText {
  const known = inLineEndsOf(text, present);
  const carried = carryChange(sidesOf(known), present);
  const baseline = known.baseline === null && carried.text === "" ? null : carried.text;
  return { path: text.path, baseline, present, hunks: carried.hunks };
}

/** With a hunk that stays as it is; undefined when it is up no more. */
export function withKept(text: ReviewedText, wanted: Hunk): ReviewedText | undefined {
  const hunk = sameHunk(text.hunks, wanted);
  if (hunk === undefined) return undefined;
  return { ...text, baseline: keepHunk(text.baseline ?? "", hunk), hunks: hunksWithoutKept(text.hunks, hunk) };
}

/** With a hunk's old lines put back; undefined when it is up no more. */
export function withUndone({ path, baseline, present, hunks }: ReviewedText, wanted: Hunk): ReviewedText | undefined {
  const hunk = sameHunk(hunks, wanted);
  if (hunk === undefined) return undefined;
  return { path, baseline, present: undoHunk(present, hunk), hunks: hunksWithoutUndone(hunks, hunk) };
}

/** With all old lines put back. */
export function withAllUndone({ path, baseline }: ReviewedText): ReviewedText {
  return { path, baseline, present: baseline ?? "", hunks: [] };
}

function sidesOf({ baseline, present, hunks }: ReviewedText): Parameters<typeof carryChange>[0] {
  return { text: baseline ?? "", before: present, hunks };
}

/** Who evens out a file's line ends (VS Code does, when a file with several kinds is typed in) changes no line of it. */
function inLineEndsOf(text: ReviewedText, present: string): ReviewedText {
  const lineEnd = onlyLineEnd(present);
  if (lineEnd === undefined || evened(text.present, lineEnd) === text.present) return text;
  const { path, baseline } = text;
  return reviewedText({
    path,
    baseline: baseline === null ? null : evened(baseline, lineEnd),
    present: evened(text.present, lineEnd),
  });
}
