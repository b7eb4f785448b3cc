/**
 * A command's result as plain text: whole output, output as it arrives, both ends of a long output, and the meaning of
 * an exit code.
 */
import type { CommandExit, CommandOutput } from "../../host/terminals/terminals.ts";
import { CONTROL_CHARACTERS, ESCAPE_SEQUENCES, OPEN_SEQUENCE } from "../../platform/ansi.ts";

/** Final letters of the control sequences that move within a line or erase a part of it. */
const LINE_CONTROLS = "CDGK";
/** No terminal is wider; a movement further right is a mistake or an attack. */
const MAX_COLUMN = 2_000;
/** A line control in the form that `plainText` keeps for drawing, or one character. */
const STROKES = /\u009b([0-?]*)([CDGK])|[\s\S]/gu;

/**
 * Output as a person finally sees it: no escape sequences, each line as it was last drawn. Movements between lines are
 * left out, so a display of several lines that redraws itself appears several times.
 */
export function plainText(output: string): string {
  if (output.search(CONTROL_CHARACTERS) < 0) return output;
  const drawable = output
    .replace(ESCAPE_SEQUENCES, (_, parameters: string | undefined, letter: string | undefined) =>
      letter && LINE_CONTROLS.includes(letter) ? `\u009b${parameters}${letter}` : "",
    )
    .replace(/(?<!\r)\r+\n/g, "\n");
  return drawable.split("\n").map(drawLine).join("\n");
}

/** The last line that is not blank, as a person sees it. */
export function lastLine(output: string): string {
  const text = plainText(output).trimEnd();
  return text.slice(text.lastIndexOf("\n") + 1);
}

/** Applies carriage returns, backspaces and line controls: later text overwrites earlier text. */
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

/** Column of the next character. `parameter` is NaN when there is none. */
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

/** A longer piece is not an escape sequence that was cut in two. Characters. */
const MAX_HELD_CHARS = 4_096;

/** Output as it arrives, without escape sequences, also where a piece cuts one in two. */
export class LiveText {
  #held = "";

  /** Text that can be shown after this piece. A redrawn line becomes another line. */
  push(piece: string): string {
    const text = this.#held + piece;
    const shown = text.slice(0, whole(text));
    this.#held = text.slice(shown.length);
    return shown
      .replace(ESCAPE_SEQUENCES, "")
      .replace(/\r+\n?/g, "\n")
      .replace(CONTROL_CHARACTERS, "");
  }
}

/** Length of the complete part: a carriage return waits for its line break, a sequence for its end. */
function whole(text: string): number {
  const end = text.slice(-MAX_HELD_CHARS);
  const open = OPEN_SEQUENCE.exec(end) ?? /\r+$/.exec(end);
  return open === null ? text.length : text.length - end.length + open.index;
}

/** Output for the model: plain, and of a long output both ends and the file with the rest. Empty without output. */
export function shownOutput({ head, tail, omittedBytes, file }: CommandOutput): string {
  if (tail === "") return plainText(head).trimEnd();
  // The cuts may be within an escape sequence, so both ends show whole lines where there are any.
  const first = head.slice(0, head.lastIndexOf("\n") + 1) || head;
  const last = tail.slice(tail.indexOf("\n") + 1) || tail;
  const omitted = omittedBytes + bytesBetween(head, first) + bytesBetween(tail, last);
  const where = file === undefined ? "" : `; the whole output is in ${file}`;
  return `${plainText(first).trimEnd()}\n\n[… ${omitted} bytes omitted${where} …]\n\n${plainText(last).trimEnd()}`;
}

function bytesBetween(whole: string, part: string): number {
  return Buffer.byteLength(whole) - Buffer.byteLength(part);
}

/** Codes of POSIX shells; 128 + N: ended by signal N. */
const CODES: ReadonlyMap<number, string> = new Map([
  [126, "found, but it cannot be executed"],
  [127, "command not found"],
  [130, "interrupted"],
  [134, "aborted by the program itself"],
  [137, "killed, often for lack of memory"],
  [139, "crashed: segmentation fault"],
  [141, "its reader closed the pipe"],
  [143, "terminated"],
]);

/** Programs whose exit code 1 is an answer, not a failure. */
const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:[ef]?grep|rg|ag|git grep)\b/, "no match"],
  [/^(?:diff|cmp|git diff)\b/, "they differ"],
  [/^(?:test|\[)(?=\s)/, "the condition is false"],
  [/^(?:pgrep|pkill)\b/, "no such process"],
  [/^(?:which|command -v|type)\b/, "not found"],
];
/** Exit code of the program `timeout` when the time ran out. */
const TIME_RAN_OUT = 124;

/** `exit code 127: command not found`; the number alone where it says enough. */
export function exitNote(command: string, { exitCode, signal }: CommandExit): string {
  if (signal !== null) return `ended by signal ${signal}`;
  if (exitCode === null) return "exit code unknown";
  const meaning = CODES.get(exitCode) ?? answerOf(lastCommand(command), exitCode);
  return meaning === undefined ? `exit code ${exitCode}` : `exit code ${exitCode}: ${meaning}`;
}

function answerOf(command: string | undefined, exitCode: number): string | undefined {
  if (command === undefined) return undefined;
  if (exitCode === TIME_RAN_OUT && /^timeout\b/.test(command)) return "the time given to `timeout` ran out";
  return exitCode === 1 ? ANSWERS.find(([program]) => program.test(command))?.[1] : undefined;
}

/** The simple command that the exit code belongs to; undefined when the command is not simple. */
function lastCommand(command: string): string | undefined {
  const plain = command.replace(/'[^']*'|"(?:[^"\\]|\\.)*"/g, "''").trim();
  if (/&&|\|\||[()`{}<]/.test(plain)) return undefined;
  const last = plain
    .split(/[|;\n]/)
    .at(-1)
    ?.trim();
  return last?.replace(/^(?:\w+=\S*\s+)+/, "");
}
