/** Parts in which two long texts differ, found without a comparison of all lines. */

/** Offsets of both texts, at line starts: the lines between `from` and `to` differ. */
type Island = {
  readonly oldFrom: number;
  readonly oldTo: number;
  readonly newFrom: number;
  readonly newTo: number;
};

/** Characters that are compared at once while the texts are equal. */
const BLOCK = 4_096;
/** Number of equal lines at which the texts meet again; fewer may be equal by chance. */
const MEETING_LINES = 8;
/** Lines on either side in which they must meet again; otherwise the rest counts as different. */
const WINDOW_LINES = 200;

/**
 * Parts in which two texts differ, in order; all other lines are equal. Walks both texts at once: comparing all lines
 * takes long where a few lines differ that are far apart.
 */
export function diffIslands(oldText: string, newText: string): readonly Island[] {
  const islands: Island[] = [];
  let [oldAt, newAt] = [0, 0];
  for (;;) {
    const same = commonLines(oldText, oldAt, newText, newAt);
    [oldAt, newAt] = [oldAt + same, newAt + same];
    if (oldAt === oldText.length && newAt === newText.length) return islands;
    const meeting = nextMeeting(linesFrom(oldText, oldAt), linesFrom(newText, newAt));
    const [oldTo, newTo] = meeting ?? [oldText.length, newText.length];
    islands.push({ oldFrom: oldAt, oldTo, newFrom: newAt, newTo });
    if (meeting === undefined) return islands;
    [oldAt, newAt] = [oldTo, newTo];
  }
}

/** Number of characters, in whole lines, that both texts have in common from here. */
function commonLines(oldText: string, oldAt: number, newText: string, newAt: number): number {
  const limit = Math.min(oldText.length - oldAt, newText.length - newAt);
  let same = 0;
  while (
    same + BLOCK <= limit &&
    oldText.slice(oldAt + same, oldAt + same + BLOCK) === newText.slice(newAt + same, newAt + same + BLOCK)
  ) {
    same += BLOCK;
  }
  while (same < limit && oldText.charCodeAt(oldAt + same) === newText.charCodeAt(newAt + same)) same += 1;
  if (oldAt + same === oldText.length && newAt + same === newText.length) return same;
  return same === 0 ? 0 : oldText.lastIndexOf("\n", oldAt + same - 1) + 1 - oldAt;
}

type LineSpan = { readonly text: string; readonly start: number };

function linesFrom(text: string, from: number): readonly LineSpan[] {
  const lines: LineSpan[] = [];
  for (let start = from; start < text.length && lines.length < WINDOW_LINES + MEETING_LINES; ) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline + 1;
    lines.push({ text: text.slice(start, end), start });
    start = end;
  }
  return lines;
}

/** The nearest place, counted in lines of both sides, from which both texts are equal again. */
function nextMeeting(
  oldLines: readonly LineSpan[],
  newLines: readonly LineSpan[],
): readonly [number, number] | undefined {
  for (let sum = 1; sum <= 2 * WINDOW_LINES; sum += 1) {
    const last = Math.min(sum, WINDOW_LINES, oldLines.length - MEETING_LINES);
    for (let index = Math.max(0, sum - WINDOW_LINES); index <= last; index += 1) {
      const [one, other] = [oldLines[index], newLines[sum - index]];
      if (one === undefined || other === undefined || one.text !== other.text) continue;
      if (isMeeting(oldLines, index, newLines, sum - index)) return [one.start, other.start];
    }
  }
  return undefined;
}

function isMeeting(
  oldLines: readonly LineSpan[],
  oldIndex: number,
  newLines: readonly LineSpan[],
  newIndex: number,
): boolean {
  for (let line = 0; line < MEETING_LINES; line += 1) {
    const text = oldLines[oldIndex + line]?.text;
    if (text === undefined || text !== newLines[newIndex + line]?.text) return false;
  }
  return true;
}
