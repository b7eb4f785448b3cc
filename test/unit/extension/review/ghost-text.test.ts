import { expect, test } from "vitest";
import { ghostText } from "../../../../extension/review/hunk-marks.ts";

const ghost = (oldLines: readonly string[], newLines: readonly string[]): string =>
  ghostText({ oldStart: 0, newStart: 0, oldLines, newLines });

test("shows the removed part of one changed line", () => {
  expect(ghost(["  return a / b.length;\n"], ["  return a / max(1, n);\n"])).toBe("b.length");
});

test("nothing where a line only gained text", () => {
  expect(ghost(["sum += price;\n"], ["sum += price * 2;\n"])).toBe("");
});

test("of removed lines the first one with text, and how many they are", () => {
  expect(ghost(["\n", "  one();\n", "two();\n"], [])).toBe("one(); (3 lines)");
  expect(ghost(["one();\n"], [])).toBe("one();");
  expect(ghost(["\n"], [])).toBe("1 line");
  expect(ghost([`${"x".repeat(90)}\n`], [])).toHaveLength(41);
});
