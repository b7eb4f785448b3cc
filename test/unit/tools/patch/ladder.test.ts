import { describe, expect, test } from "vitest";
import { replaceText } from "../../../../agent-core/tools/patch/replace.ts";
import { plain } from "../../../../agent-core/tools/patch/typography.ts";

const replace = (text: string, oldString: string, newString: string, replaceAll = false) =>
  replaceText(text, { oldString, newString, replaceAll });

const CODE = `function greet(name) {
    const text = "Hello, " + name;
    console.log(text);
    return text;
}
`;

/** Each: the file, what the model says stands there, what it wants, what must come of it, and how it was found. */
type Case = {
  readonly name: string;
  readonly file: string;
  readonly edit: readonly [oldString: string, newString: string];
  readonly expected: string;
  readonly how: string;
};
const rows: readonly (readonly [string, string, string, string, string, string])[] = [
  ["blanks at line ends in the file", "a  \nb\t\nc\n", "a\nb", "a\nB", "a  \nB\nc\n", "ends of lines"],
  ["blanks at line ends in the text", "a\nb\nc\n", "a \nb  ", "a\nB", "a\nB\nc\n", "ends of lines"],
  ["blanks within lines", "x  =  1;\ny = 2;\n", "x = 1;", "x = 3;", "x = 3;\ny = 2;\n", "within lines"],
  [
    "less indentation",
    CODE,
    'const text = "Hello, " + name;\nconsole.log(text);',
    'const text = "Hi, " + name;\nconsole.log(text);',
    CODE.replace("Hello", "Hi"),
    "indentation",
  ],
  [
    "tabs for blanks",
    "\tif (a) {\n\t\tb();\n\t}\n",
    "    if (a) {\n        b();\n    }",
    "    if (a) {\n        c();\n    }",
    "\tif (a) {\n\t\tc();\n\t}\n",
    "indentation",
  ],
  [
    "escapes written out",
    'say("a");\nsay("b");\n',
    'say(\\"a\\");\\nsay(\\"b\\");',
    'say(\\"c\\");\\nsay(\\"b\\");',
    'say("c");\nsay("b");\n',
    "escapes",
  ],
  ["blank lines around", "one\n  two\nthree\n", "\n\n two\n\n", "\n\n TWO\n\n", "one\n  TWO\nthree\n", "blank lines"],
  ["typographic quotes", "it’s “fine”\n", 'it\'s "fine"', "it's good", "it’s good\n", "typographic"],
  [
    "typographic characters around a change",
    "  “Hello, world” – it’s…\u00a0so\n",
    '"Hello, world" - it\'s... so',
    "\"Hi, world\" - 'it's... so",
    "  “Hi, world” – 'it’s…\u00a0so\n",
    "typographic",
  ],
  ["plain characters of the file", "it's fine\n", "it’s fine", "it’s good", "it's good\n", "typographic"],
  [
    "typographic characters that the call changes",
    "say “a” and “b”\n",
    'say "a" and "b"',
    'say «a» and "b"',
    "say «a» and “b”\n",
    "typographic",
  ],
  [
    "lines whose depth differs from line to line",
    "if (a)\n    b();\nc();\n",
    "  if (a)\n    b();\n    c();",
    "  if (a)\n    b();\n    d();",
    "if (a)\n    b();\nd();\n",
    "indentation",
  ],
  [
    "a no-break space and a dash",
    "a\u00a0–\u00a0b\nc\n",
    "a - b\nc",
    "a - b\nd",
    "a\u00a0–\u00a0b\nd\n",
    "typographic",
  ],
  [
    "a middle that was remembered wrongly",
    "start(x)\n  compute(alpha, beta)\nend(x)\nrest\n",
    "start(x)\n  compute(alpha, bet)\nend(x)",
    "start(x)\n  compute(alpha, bet)\nfinish(x)",
    "start(x)\n  compute(alpha, beta)\nfinish(x)\nrest\n",
    "first and last line",
  ],
  [
    "a first line that was remembered wrongly",
    "function compute(alpha) {\n  check(alpha);\n  return alpha;\n}\n",
    "function compute(alpa) {\n  check(alpha);\n  return alpha;\n}",
    "function compute(alpa) {\n  check(alpha);\n  return alpha + 1;\n}",
    "function compute(alpha) {\n  check(alpha);\n  return alpha + 1;\n}\n",
    "likeness",
  ],
  ["line numbers of read_file", "a\nb\nc\n", "1|a\n2|b", "1|a\n2|B", "a\nB\nc\n", "ends of lines"],
  ["carriage returns", "a  \r\nb\r\nc\r\n", "a\nb", "a\nB\nB2", "a  \r\nB\r\nB2\r\nc\r\n", "ends of lines"],
];

const found: readonly Case[] = rows.map(([name, file, oldString, newString, expected, how]) => ({
  name,
  file,
  edit: [oldString, newString],
  expected,
  how,
}));

describe("an old text that is not there to the letter", () => {
  test.each(found)("is found in spite of $name", ({ file, edit: [oldString, newString], expected, how }) => {
    const replaced = replace(file, oldString, newString);
    expect(replaced).toMatchObject({ kind: "changed", newText: expected, how: expect.stringContaining(how) });
  });

  test("an exact match is never taken for anything else", () => {
    expect(replace("a \na\n", "a\n", "b\n")).toEqual({ kind: "changed", newText: "a \nb\n", count: 1 });
  });

  test("lines that the edit leaves alone stay as the file has them, to the byte", () => {
    const file = "keep “this”\u00a0line  \nchange me \n";
    expect(replace(file, 'keep "this" line\nchange me', 'keep "this" line\nchanged')).toMatchObject({
      newText: "keep “this”\u00a0line  \nchanged\n",
    });
  });

  test("lines can go altogether, without leaving an empty one", () => {
    expect(replace("a\nb  \nc\n", "b\n", "")).toMatchObject({ newText: "a\nc\n" });
    expect(replace("a\n  b", " b", "")).toMatchObject({ kind: "changed" });
  });

  test("a final line without a break stays without one", () => {
    expect(replace("a\nb ", "a \nb", "a \nB")).toMatchObject({ newText: "a\nB" });
  });
});

describe("refused rather than guessed", () => {
  test("two places that are the same but for blanks", () => {
    const replaced = replace("if (a) {\n  b();\n}\nif (a) {\n\tb();\n}\n", "if (a) {\n    b();\n}", "x");
    expect(replaced).toMatchObject({ kind: "refused", text: expect.stringContaining("2 places (lines 1, 4)") });
  });

  test("all of them when that was asked for", () => {
    expect(replace("  b();\nx\n\tb();\n", "b(); ", "c();", true)).toMatchObject({
      kind: "changed",
      count: 2,
      newText: "  c();\nx\n\tc();\n",
    });
  });

  test.each([
    [
      "a new line among lines of different depth",
      "if (a) {\n  b();\n}\nc();\n",
      "b();\n}\nc(); ",
      "b();\n}\nx();\nc(); ",
    ],
    ["two lines of different depth for one", "  b();\nc();\n", "b();\nc(); ", "x();"],
    ["a line deeper than lines that are not", "a();\nb();\n", "a();\n  b();", "a();\n  b();\n    x();"],
  ])("%s", (_, file, oldString, newString) => {
    expect(replace(file, oldString, newString)).toMatchObject({
      kind: "refused",
      text: expect.stringContaining("the depth of the new lines is unclear"),
    });
  });

  test.each([
    ["a zero-width space", "pay\u200bload = 1;\n", "payload = 1;", "the file has U+200B, your text has none"],
    [
      "a bidirectional override",
      "a \u202eb\u202c;\nc;\n",
      "a b;\nc;",
      "the file has U+202E U+202C, your text has none",
    ],
    ["an invisible character of the call", "a b;\n", "a\u2060 b;", "the file has none, your text has U+2060"],
  ])("a difference in %s", (_, file, oldString, why) => {
    expect(replace(file, oldString, "x")).toMatchObject({ kind: "refused", text: expect.stringContaining(why) });
  });

  test("never all that are merely alike", () => {
    const block = (word: string) => `start(x)\n  compute(alpha, ${word})\nend(x)\n`;
    const wanted = block("bexa");
    const replaced = replace(block("beta") + block("bela"), wanted, wanted.replace("end", "finish"), true);
    expect(replaced).toMatchObject({ kind: "refused", text: expect.stringContaining("2 places") });
  });

  test.each([
    ["nothing alike", "completely different text\nof two lines"],
    ["one line that is only similar", "const answer = compute(alpa);"],
    ["blank lines alone", "\n \n\n"],
    ["half of a block", 'function greet(nobody) {\n    let other = 5;\n    throw new Error("x");\n}'],
  ])("%s", (_, oldString) => {
    expect(replace(`${CODE}const answer = compute(alpha);\n\n`, oldString, "zzz").kind).toBe("refused");
  });

  test("an edit that would change nothing", () => {
    expect(replace("a\nb\n", "a ", "a")).toMatchObject({
      kind: "refused",
      text: expect.stringContaining("blanks only"),
    });
  });

  test("a text whose replacement stands there as whole lines was edited before; a word that stands there was not", () => {
    expect(replace("const x = 2;\n", "const x = 1;", "const x = 2;").kind).toBe("already");
    expect(replace("const x = 2;\n", "var y;", "x").kind).toBe("refused");
  });
});

describe("random edits", () => {
  const random = seeded(20_261_121);
  const words = ["alpha", "beta();", "if (gamma) {", "}", "return delta;", "// note", "const x = 1;", "", "  "];
  const line = (): string => `${"  ".repeat(Math.floor(random() * 3))}${words[Math.floor(random() * words.length)]}`;

  test("no byte outside the lines that were named is touched", () => {
    let changed = 0;
    for (let round = 0; round < 2_000; round += 1) {
      const lines = Array.from({ length: 6 + Math.floor(random() * 20) }, line);
      const at = Math.floor(random() * (lines.length - 3));
      const mark = `unique ${round};`;
      lines[at + 1] = `  ${mark}`;
      const file = `${lines.join("\n")}\n`;
      const disturbed = lines.slice(at, at + 3).map((text) => (random() < 0.5 ? text.trim() : `${text}  `));
      const wanted = disturbed.with(1, disturbed[1]?.replace(mark, "changed;") ?? "");
      const replaced = replace(file, disturbed.join("\n"), wanted.join("\n"));
      if (replaced.kind !== "changed") continue;
      changed += 1;
      expect(replaced.newText.split("\n").map((text) => text.trim())).toEqual(
        lines
          .with(at + 1, "changed;")
          .concat("")
          .map((text) => text.trim()),
      );
      expect(replaced.newText.split("\n").slice(0, at)).toEqual(lines.slice(0, at));
      expect(replaced.newText.split("\n").slice(at + 3, -1)).toEqual(lines.slice(at + 3));
    }
    expect(changed).toBeGreaterThan(1_500);
  });
});

/** Mulberry32: the same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test.each([
  ["a \ufe58 b \ufe31 c \ufe32", "a - b - c -"],
  ["x\u2034", "x'''"],
  ["it\u00b4s 5\u2033", "it's 5\""],
])("%j reads like %s", (written, meant) => expect(plain(written)).toBe(meant));
