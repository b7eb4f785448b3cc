/** What programs write to a terminal besides text: colours, titles, links, cursor movements. */

const ESC = "\u001b";
const BELL = "\u0007";
const STRING_END = "\u009c";

/** Control sequence: parameters and final letter are captured; the letter is empty where the text was cut off. */
const CONTROL_SEQUENCE = `(?:${ESC}\\[|\u009b)([0-?]*)[ -/]*([@-~]|$)`;
/** Titles, links and the like. One without an end goes up to the line's end or the next sequence, and no further. */
const STRING_SEQUENCE = `(?:${ESC}[\\]PX^_]|[\u0090\u009d])[^${BELL}${ESC}${STRING_END}\\n]*(?:${BELL}|${ESC}\\\\|${STRING_END}|(?=[\\n${ESC}])|$)`;
const SHORT_SEQUENCE = `${ESC}[ -/]*(?:[0-~]|$)`;

/** Every escape sequence. Groups: parameters and final letter of a control sequence. */
export const SEQUENCES = new RegExp(`${CONTROL_SEQUENCE}|${STRING_SEQUENCE}|${SHORT_SEQUENCE}`, "g");

/** Control characters but line break and tab. */
export const CONTROLS = /[^\P{Cc}\n\t]/gu;

/** The beginning of a sequence whose end is still to come. */
export const OPEN_SEQUENCE = new RegExp(
  `(?:(?:${ESC}\\[|\u009b)[0-?]*[ -/]*|(?:${ESC}[\\]PX^_]|[\u0090\u009d])[^${BELL}${ESC}${STRING_END}\\n]*${ESC}?|${ESC}[ -/]*)$`,
);
