import { expect, test } from "vitest";
import { ShellMarks } from "../../../extension/terminals/shell-command.ts";

const ESC = "\u001b";
const BEGIN = `${ESC}]633;C\u0007`;
const END = `${ESC}]633;D;0\u0007`;

function outputOf(...pieces: readonly string[]): string {
  const marks = new ShellMarks();
  return pieces.map((piece) => marks.push(piece)).join("") + marks.end();
}

test.each([
  ["the mark of the beginning", `${BEGIN}first\r\nlast\r\n`, "first\r\nlast\r\n"],
  ["the prompt behind the end", `${BEGIN}out\r\n${END}${ESC}]633;P;Cwd=/x\u0007user$ `, "out\r\n"],
  ["a prompt between two lines of one command", `${BEGIN}a\r\n${END}> ${BEGIN}b\r\n`, "a\r\nb\r\n"],
  ["marks that end in a string terminator", `${ESC}]133;C${ESC}\\text`, "text"],
  ["a mark with the command line", `${BEGIN}${ESC}]633;E;echo\\x3b;nonce\u0007x`, "x"],
])("%s is not output", (_, printed, expected) => {
  expect(outputOf(printed)).toBe(expected);
});

test.each([
  ["colours", `${ESC}[31mred${ESC}[0m`],
  ["titles and links", `${ESC}]0;title\u0007${ESC}]8;;http://x\u0007link${ESC}]8;;\u0007`],
  ["a mark without an end", `text${ESC}]633;C`],
  ["a lone escape at the end", `text${ESC}`],
])("%s stay", (_, printed) => {
  expect(outputOf(printed)).toBe(printed);
});

test("marks are found wherever the pieces are torn", () => {
  const printed = `${BEGIN}one ${ESC}[1mtwo${ESC}[0m\r\n${ESC}]633;P;x=y${ESC}\\three${END}prompt`;
  for (let at = 0; at <= printed.length; at += 1) {
    expect(outputOf(printed.slice(0, at), printed.slice(at))).toBe(`one ${ESC}[1mtwo${ESC}[0m\r\nthree`);
  }
  expect(outputOf(...printed)).toBe(`one ${ESC}[1mtwo${ESC}[0m\r\nthree`);
});

test("a mark without an end holds back no megabyte", () => {
  const marks = new ShellMarks();
  const printed = `${ESC}]633;P;${"x".repeat(100_000)}`;
  expect(marks.push(printed)).toBe(printed);
});
