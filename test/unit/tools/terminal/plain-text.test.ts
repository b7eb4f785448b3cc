import { expect, test } from "vitest";
import { LiveText, lastLine, plainText } from "../../../../agent-core/tools/terminal/output-text.ts";

const ESC = "\u001b";

test.each([
  ["colours", `${ESC}[1;31mred${ESC}[0m`, "red"],
  ["links and titles", `${ESC}]8;;http://x\u0007link${ESC}]8;;\u0007${ESC}]0;title${ESC}\\!`, "link!"],
  ["a title without an end takes its line only", `${ESC}]0;title\nnext`, "\nnext"],
  ["eight-bit sequences", "\u009b31mred\u009b0m", "red"],
  ["a sequence that was cut off", `text${ESC}[3`, "text"],
  ["a progress line", "10%\r50%\r100%\n", "100%\n"],
  ["a shorter line over a longer one keeps the rest", "12345\rab\n", "ab345\n"],
  ["a line that is erased before it is drawn again", `loading\r${ESC}[Kdone\n`, "done\n"],
  ["a whole line erased", `loading${ESC}[2K\rok\n`, "ok\n"],
  ["erased up to the caret", `abc${ESC}[1K\n`, "\n"],
  ["movements within a line", `a${ESC}[3Cb${ESC}[1Gc${ESC}[Dd`, "d   b"],
  ["backspaces", "ab\b\bcd\r\n", "cd\n"],
  ["Windows line ends", "one\r\ntwo\r\r\n", "one\ntwo\n"],
  ["bells and other controls", "a\u0007b\u0000c\td", "abc\td"],
  ["characters of several units", "\u{1f600}\rx", "x"],
  ["a movement beyond every screen", `${ESC}[999999999Cx`.repeat(3), `${" ".repeat(2000)}xxx`.slice(0, 2000)],
])("%s", (_, written, read) => {
  expect(plainText(written).slice(0, 2000)).toBe(read);
});

test("text without controls is given as it is", () => {
  const text = "plain\n".repeat(10);
  expect(plainText(text)).toBe(text);
});

test("a megabyte of redrawn progress takes no more than a moment", () => {
  // An algorithm that redraws from the beginning each time takes hours, so the test's own timeout fails it.
  expect(plainText(`${ESC}[2K\r${"#".repeat(50)}`.repeat(20_000))).toBe("#".repeat(50));
});

test("a megabyte in one line or of carriage returns takes no more than a moment", () => {
  // Steps that grow with the square of the length take half an hour, so the test's own timeout fails them.
  const long = "x".repeat(1_000_000);
  expect(lastLine(`${long}\n\u001b[1mPassword: \u001b[0m\n \n`)).toBe("Password:");
  expect(lastLine(`Password:\n${long}`)).toBe(long);
  expect(lastLine(" \n")).toBe("");
  expect(plainText(`a${"\r".repeat(1_000_000)}b\r\r\n`)).toBe("b\n");
});

test("live output: a sequence torn between two pieces shows nothing of itself", () => {
  const live = new LiveText();
  expect(
    [`a${ESC}`, "[3", "1mb", `${ESC}]0;tit`, "le\u0007c\r", "\nd\r", "e"].map((piece) => live.push(piece)),
  ).toEqual(["a", "", "b", "", "c", "\nd", "\ne"]);
});

test("live output: an escape that never ends is not held for ever", () => {
  const live = new LiveText();
  live.push(`${ESC}]0;`);
  expect(live.push("x".repeat(5_000)) + live.push("\nend")).toContain("end");
});
