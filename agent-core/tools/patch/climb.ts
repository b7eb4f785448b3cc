/** Looks for a text that is not in a file to the letter, by one strategy after the other. */
import { fitLines } from "./fit-lines.ts";
import { TextLines } from "./lines.ts";
import { ladder } from "./strategies/ladder.ts";
import type { LineEdit, Window } from "./strategies/strategy.ts";

/** Where the text stands, and what comes there. Offsets of the file's text. */
type Place = { readonly start: number; readonly end: number; readonly replacement: string };

export type Found = {
  /** In the file's order, one at least; they may overlap. */
  readonly places: readonly Place[];
  readonly how: string;
  readonly isSimilarity: boolean;
};

/** Line numbers as read_file shows them, copied along. */
const NUMBERED = /^\s*\d+\|/;

export function climb(
  text: string,
  { oldString, newString }: { readonly oldString: string; readonly newString: string },
): Found | undefined {
  const file = new TextLines(text);
  const edit = withoutNumbers({ oldLines: splitLines(oldString), newLines: splitLines(newString) });
  if (edit.oldLines.length === 0) return undefined;
  for (const strategy of ladder) {
    const prepared = strategy.prepare === undefined ? edit : strategy.prepare(edit);
    if (prepared === undefined) continue;
    const windows = strategy.find(file, prepared.oldLines);
    if (windows.length === 0) continue;
    const places = windows.map((window) => placeOf(file, window, prepared));
    return { places, how: strategy.how, isSimilarity: strategy.isSimilarity };
  }
  return undefined;
}

/** Whether a final line break belongs to the text makes no difference for whole lines. */
function splitLines(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function withoutNumbers({ oldLines, newLines }: LineEdit): LineEdit {
  const said = oldLines.filter((line) => line.trim() !== "");
  if (said.length === 0 || !said.every((line) => NUMBERED.test(line))) return { oldLines, newLines };
  const strip = (line: string): string => line.replace(NUMBERED, "");
  return { oldLines: oldLines.map(strip), newLines: newLines.map(strip) };
}

function placeOf(file: TextLines, window: Window, edit: LineEdit): Place {
  const { first, count } = window;
  const start = file.start(first);
  // Lines that go without a successor take their line break with them.
  if (edit.newLines.length === 0) return { start, end: file.start(first + count), replacement: "" };
  const lines = fitLines(file, { ...window, ...edit });
  const replacement = lines.map(({ text, end }, index) => (index === lines.length - 1 ? text : text + end)).join("");
  return { start, end: file.end(first + count - 1), replacement };
}
