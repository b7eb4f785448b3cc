import { expect, test } from "vitest";
import { oneLine } from "../../../agent-core/platform/one-line.ts";
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
