import { expect, test } from "vitest";
import { oneLine, truncate } from "../../../agent-core/platform/one-line.ts";
import { titleLine } from "../../../agent-core/sessions/titles.ts";

test.each([
  ["  one\n\ttwo ", "one two"],
  ["exactly10!", "exactly10!"],
  ["eleven char", "eleven ch…"],
])("A line of %j is %j", (text, line) => {
  expect(oneLine(text, 10)).toBe(line);
});

test("A line and a title come from the start of a text of megabytes", () => {
  const text = "word\n".repeat(2_000_000);
  expect(oneLine(text, 9)).toBe("word wor…");
  expect(titleLine(`\n\n${text}`)).toMatch(/^word word .*word$/);
  expect(titleLine(text).length).toBeLessThan(10_000);
});

test("a truncated text ends in a whole character, without a blank before the ellipsis", () => {
  expect(truncate("ab 😀 cd", 9)).toBe("ab 😀 cd");
  expect(truncate("ab 😀 cd", 4)).toBe("ab…");
  expect(truncate("ab 😀 cd", 5)).toBe("ab 😀…");
  expect(oneLine("a\n😀 b", 4)).toBe("a…");
});
