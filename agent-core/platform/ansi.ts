/**
 * Grammar of terminal escape sequences (ECMA-48): colours, titles, links, cursor movements, keys. Regular expressions
 * only, because the webview imports this file too. Node's `stripVTControlCharacters` leaves titles and torn sequences.
 */

const ESC = "\u001b";
const BELL = "\u0007";
const STRING_END = "\u009c";

/** Parameters and final letter are captured; the letter is empty where the text was cut off. */
const CONTROL_SEQUENCE = `(?:${ESC}\\[|\u009b)([0-?]*)[ -/]*([@-~]|$)`;
/** Titles, links, shell marks. A string without a terminator ends with its line or before the next sequence. */
const STRING_SEQUENCE = `(?:${ESC}[\\]PX^_]|[\u0090\u009d])([^${BELL}${ESC}${STRING_END}\\n]*)(${BELL}|${ESC}\\\\|${STRING_END}|(?=[\\n${ESC}])|$)`;
const SHORT_SEQUENCE = `${ESC}[ -/]*(?:[0-~]|$)`;

/**
 * Every escape sequence in a program's output. Groups: 1 parameters and 2 final letter of a control sequence, 3 body and
 * 4 terminator of a string sequence; the terminator is empty for a string that was cut off.
 */
export const ESCAPE_SEQUENCES = new RegExp(`${CONTROL_SEQUENCE}|${STRING_SEQUENCE}|${SHORT_SEQUENCE}`, "g");

/** Beginning of a sequence at the end of a piece of output; its rest comes with the next piece. */
export const OPEN_SEQUENCE = new RegExp(
  `(?:(?:${ESC}\\[|\u009b)[0-?]*[ -/]*|(?:${ESC}[\\]PX^_]|[\u0090\u009d])[^${BELL}${ESC}${STRING_END}\\n]*${ESC}?|${ESC}[ -/]*)$`,
);

/** Control characters except line feed and tab. */
export const CONTROL_CHARACTERS = /[^\P{Cc}\n\t]/gu;

/** Single keys in a terminal's input: an arrow or function key, a line end, or one character. */
export const KEYS = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|O.|.)?|\\r\\n|[\\s\\S]`, "gu");

/** Matches a last line of output that asks for a secret: the input after it is not shown. */
export const ASKS_FOR_SECRET = /pass(?:word|phrase|code)|secret|token|\bpin\b/i;
