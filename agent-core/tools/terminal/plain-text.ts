/**
 * Terminal output as the text that a person reads in the end: no escape sequences, each line as it was last drawn.
 * Movements between lines are left out, so a display of several lines that redraws itself stands there several times.
 */
import { CONTROL_CHARACTERS, ESCAPE_SEQUENCES } from "../../platform/ansi.ts";

/** Final letters of the control sequences that move within a line or erase a part of it. */
const LINE_CONTROLS = "CDGK";
/** No terminal is wider; a movement further right is a mistake or an attack. */
const MAX_COLUMN = 2_000;
/** A line control as it is kept for drawing, or one character. */
const STROKES = /\u009b([0-?]*)([CDGK])|[\s\S]/gu;

export function plainText(output: string): string {
  if (output.search(CONTROL_CHARACTERS) < 0) return output;
  const drawable = output
    .replace(ESCAPE_SEQUENCES, (_, parameters: string | undefined, letter: string | undefined) =>
      letter && LINE_CONTROLS.includes(letter) ? `\u009b${parameters}${letter}` : "",
    )
    .replace(/\r+\n/g, "\n");
  return drawable.split("\n").map(drawLine).join("\n");
}

/** Applies carriage returns, backspaces and line controls: later text stands where earlier text stood. */
function drawLine(line: string): string {
  if (!/[\r\b\u009b]/.test(line)) return line.replace(CONTROL_CHARACTERS, "");
  const cells: string[] = [];
  let column = 0;
  for (const [stroke, parameters, letter] of line.matchAll(STROKES)) {
    if (letter !== undefined) column = applyControl(cells, column, Number.parseInt(parameters ?? "", 10), letter);
    else if (stroke === "\r") column = 0;
    else if (stroke === "\b") column = Math.max(0, column - 1);
    else if (stroke.search(CONTROL_CHARACTERS) < 0) {
      cells[column] = stroke;
      column += 1;
    }
  }
  return Array.from(cells, (cell: string | undefined) => cell ?? " ")
    .join("")
    .trimEnd();
}

/** Gives the column where the next character stands. `parameter` is NaN when there is none. */
function applyControl(cells: string[], column: number, parameter: number, letter: string): number {
  switch (letter) {
    case "C":
      return Math.max(column, Math.min(MAX_COLUMN, column + (parameter || 1)));
    case "D":
      return Math.max(0, column - (parameter || 1));
    case "G":
      return Math.max(0, Math.min(MAX_COLUMN, (parameter || 1) - 1));
    default:
      erase(cells, column, parameter || 0);
      return column;
  }
}

/** 0: from the column on; 1: up to it; 2: the whole line. */
function erase(cells: string[], column: number, part: number): void {
  if (part === 0) cells.length = Math.min(cells.length, column);
  else if (part === 2) cells.length = 0;
  else cells.fill(" ", 0, column + 1);
}
