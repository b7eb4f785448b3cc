import { describe, expect, test } from "vitest";
import { hunksBetween } from "../../../../agent-core/platform/hunks.ts";
import { hunkLook, movesOf } from "../../../../extension/review/hunk-look.ts";

/** Captions, and lines as they appear: [+new words], and removed ones as [-words] in front of them. */
function look(before: string, after: string, isWrapped = false) {
  const [hunk] = hunksBetween(before, after);
  if (hunk === undefined) throw new Error("there is no hunk");
  const { inserted, struck, captions } = hunkLook(hunk, isWrapped);
  const lines = hunk.newLines.map((text, index) => {
    const marks = [
      ...struck
        .filter(({ line }) => line === index)
        .map((words) => ({ at: words.at, order: 0, text: `[-${words.text}]` })),
      ...inserted
        .filter(({ line }) => line === index)
        .flatMap(({ start, end }) => [
          { at: start, order: 1, text: "[+" },
          { at: end, order: -1, text: "]" },
        ]),
    ].toSorted((one, other) => other.at - one.at || other.order - one.order);
    return marks.reduce(
      (all, mark) => all.slice(0, mark.at) + mark.text + all.slice(mark.at),
      text.replace(/\r?\n$/, ""),
    );
  });
  const shown = captions.map(({ line, text }) => `${line}: ${text.replaceAll("\u00a0", " ")}`);
  return { lines: lines.map((line) => line.replaceAll("\u00a0", " ")), captions: shown };
}

const LONG = Array.from({ length: 20 }, (_, index) => `["item-${index}", ${index}]`).join(", ");

describe("The look of a hunk", () => {
  test.each([
    [
      "strikes a word in front of its replacement, below the old line",
      "  return sum * 0.85;\n",
      "  return sum * 0.9;\n",
      ["  return sum * [-0.85][+0.9];"],
      ["0: − return sum * 0.85;"],
    ],
    [
      "strikes removed words at their place",
      "def area(width, height):\n",
      "def area(width):\n",
      ["def area(width[-, height]):"],
      ["0: − def area(width, height):"],
    ],
    ["marks only the new words of an insertion", "area(w)\n", "area(w, h)\n", ["area(w[+, h])"], ["0: − area(w)"]],
    [
      "needs no caption for a word in each of several lines",
      "a = rows;\nb = rows;\n",
      "a = lines;\nb = lines;\n",
      ["a = [-rows][+lines];", "b = [-rows][+lines];"],
      [],
    ],
    [
      "shows the old line above one that replaces it",
      "const first = rows[0];\n",
      "if (length > 1000) throw failure;\n",
      ["if (length > 1000) throw failure;"],
      ["0: − const first = rows[0];"],
    ],
    [
      "marks no indentation that a new line above took over",
      "    return result\n",
      "    share = 0.9\n    return result * share\n",
      ["    share = 0.9", "    return result[+ * share]"],
      ["1: − return result"],
    ],
    [
      "strikes no indentation of lines that became one",
      "\ttotal = 0\n\tfor (const item of items)\n",
      "\ttotal = sum(for (const item of items))\n",
      ["\ttotal = [+sum(]for (const item of items)[+)]"],
      ["0: − total = 0 ⏎ for (const item of items)"],
    ],
    [
      "marks only the new part of an indentation",
      "  go();\n",
      "  if (ready) {\n    go();\n  }\n",
      ["  if (ready) {", "  [+  ]go();", "  }"],
      ["1: − go();"],
    ],
    ["joins a few removed lines", "keep\none();\n\n  two();\n", "keep\n", [], ["0: − one(); ⏎ two();"]],
    [
      "counts many removed lines",
      `keep\n${"  step();\n".repeat(12)}`,
      "keep\n",
      [],
      ["0: − step(); ⏎ step(); ⏎ step(); ⏎ step(); ⏎ step(); ⏎ step(); ⏎ step(); ⏎ … (12 lines)"],
    ],
    ["shows removed empty lines as a number", "a\n\n\nb\n", "a\nb\n", [], ["0: − (2 lines)"]],
    ["has no caption for new lines", "a\n", "a\nb\n", ["b"], []],
    [
      "shows blanks where only they changed",
      "\tgo(a, b);\n",
      "    go(a, b);\n",
      ["[-→][+    ]go(a, b);"],
      ["0: − →go(a,·b); (only whitespace changed)"],
    ],
    [
      "shows removed blanks at the end",
      "pears  \n",
      "pears\n",
      ["pears[-··]"],
      ["0: − pears·· (only whitespace changed)"],
    ],
    ["names changed line endings", "a\nb\n", "a\r\nb\r\n", ["a", "b"], ["0: Line endings changed: LF → CRLF"]],
    [
      "says that the last line break is gone",
      "a\nb\n",
      "a\nb",
      ["b"],
      ["0: The file no longer ends with a line break"],
    ],
    ["says that a last line break came", "a\nb", "a\nb\n", ["b"], ["0: The file now ends with a line break"]],
    [
      "leaves the order of right-to-left text alone",
      "הוא חמישה שקלים\n",
      "הוא שבעה שקלים\n",
      ["הוא [+שבעה] שקלים"],
      ["0: − הוא חמישה שקלים"],
    ],
  ])("%s", (_what, before, ...[after, lines, captions]) => {
    expect(look(before, after)).toEqual({ lines, captions });
  });

  test("shows a change that is far right in the caption, both texts of it", () => {
    const { captions, lines } = look(`[${LONG}, ["apple", 3]]\n`, `[${LONG}, ["apple", 5]]\n`);
    expect(captions).toEqual([expect.stringMatching(/^0: − ….*"apple", 3\]\].* {2}→ {2}….*"apple", 5\]\]/)]);
    expect(lines[0]).toContain('["apple", [-…][+5]]');
  });

  test("strikes no long words, nor any in lines that the editor wraps", () => {
    const text = "a sentence that is far too long to stand in a line";
    expect(look(`say("${text}")\n`, 'say("hello", "and", "good-bye", "to all")\n').captions).toEqual([
      `0: − say("${text}")`,
    ]);
    const wrapped = look("one two three\none two\n", "one 2 three\none 2\n", true);
    expect(wrapped.lines).toEqual(["one [-…][+2] three", "one [-…][+2]"]);
    expect(wrapped.captions).toEqual(["0: − one two three", "1: − one two"]);
  });

  test("knows where the lines of a moved block were and are", () => {
    const block = "export function names(rows) {\n  return rows;\n}\n";
    const hunks = hunksBetween(`one\ntwo\nthree\n${block}`, `${block}\none\ntwo\nthree\n`);
    const [to, from] = hunks;
    expect(movesOf(hunks)).toEqual(
      new Map([
        [from, to],
        [to, from],
      ]),
    );
    expect(movesOf(hunksBetween("}\na\n", "a\n}\n")).size).toBe(0);
  });
});
