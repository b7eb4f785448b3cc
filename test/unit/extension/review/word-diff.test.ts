import { describe, expect, test } from "vitest";
import { wordDiff } from "../../../../extension/review/word-diff.ts";

/** Lines with their removed words in [-…-] and their new words in {+…+}. */
function marked(oldLines: readonly string[], newLines: readonly string[]): readonly [string, string] {
  const words = wordDiff(oldLines, newLines);
  const cut = (
    lines: readonly string[],
    spans: readonly { line: number; start: number; end: number }[],
    sign: string,
  ) =>
    lines
      .map((text, line) =>
        spans
          .filter((span) => span.line === line)
          .toReversed()
          .reduce(
            (all, { start, end }) => `${all.slice(0, start)}[${sign}${all.slice(start, end)}]${all.slice(end)}`,
            text,
          ),
      )
      .join("");
  return [
    cut(
      oldLines,
      words.removed.map(({ old }) => old),
      "-",
    ),
    cut(newLines, words.inserted, "+"),
  ];
}

describe("The comparison of words", () => {
  test.each([
    [
      "takes a decimal number as one word",
      "return sum * 0.85;",
      "return sum * 0.9;",
      "return sum * [-0.85];",
      "return sum * [+0.9];",
    ],
    ["takes an operator as one word", "a == b", "a === b", "a [-==] b", "a [+===] b"],
    [
      "marks inserted words only",
      "def area(width):",
      "def area(width, height):",
      "def area(width):",
      "def area(width[+, height]):",
    ],
    [
      "joins neighbouring words",
      "keep the old words of this text",
      "keep the new things of this text",
      "keep the [-old words] of this text",
      "keep the [+new things] of this text",
    ],
    [
      "keeps an emoji of several code points whole",
      'say("👩‍👩‍👧 done")',
      'say("👨‍👩‍👦 done")',
      'say("[-👩‍👩‍👧] done")',
      'say("[+👨‍👩‍👦] done")',
    ],
    [
      "marks single characters in scripts without blanks",
      "家族の写真を送る",
      "家族の動画を送る",
      "家族の[-写真]を送る",
      "家族の[+動画]を送る",
    ],
    ["marks inserted indentation", "  go();", "    go();", "  go();", "  [+  ]go();"],
    ["marks removed blanks at the end", "pears  \t", "pears", "pears[-  \t]", "pears"],
  ])("%s", (_what, ...texts) => {
    const [old, fresh, oldMarked, newMarked] = texts.map((text) => `${text}\n`);
    expect(marked([old ?? ""], [fresh ?? ""])).toEqual([oldMarked, newMarked]);
  });

  test("names the place from which words are gone", () => {
    expect(wordDiff(["f(a, b)\n"], ["f(a)\n"]).removed).toEqual([
      { old: { line: 0, start: 3, end: 6 }, line: 0, at: 3 },
    ]);
  });

  test("pairs each line with the old line that it changes, and marks no words in other lines", () => {
    const old = ["const rows = read();\n", "log(rows.length);\n"];
    const fresh = ["const lines = read();\n", "if (empty) return [];\n", "log(lines.length);\n"];
    expect(wordDiff(old, fresh).oldLineOf).toEqual([0, undefined, 1]);
    expect(marked(old, fresh)[1]).toBe("const [+lines] = read();\nif (empty) return [];\nlog([+lines].length);\n");
    expect(wordDiff(["const first = rows[0];\n"], ["if (rows.length > 9) throw failure;\n"]).oldLineOf).toEqual([
      undefined,
    ]);
  });

  test("gives up on a hunk of many thousand words", () => {
    const lines = (word: string) => Array.from({ length: 2000 }, (_, line) => `${word} ${line} = ${line};\n`);
    expect(wordDiff(lines("let"), lines("const")).inserted).toEqual([]);
  });
});

test("an old line of which only the end is left is shown as a whole, not as struck words", () => {
  const fresh = ["  for (const row of rows) {\n", "    trimmed.push(row.trim());\n", "  }\n"];
  const { oldLineOf, removed } = wordDiff(["  return rows.map((row) => row.trim());\n"], fresh);
  expect(oldLineOf).toEqual([undefined, undefined, undefined]);
  expect(removed).toEqual([]);
});
