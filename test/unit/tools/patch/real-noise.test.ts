import { describe, expect, test } from "vitest";
import { replaceText } from "../../../../agent-core/tools/patch/replace.ts";
import { applyHunks } from "../../../../agent-core/tools/patch/v4a/apply-hunks.ts";
import { parsePatch } from "../../../../agent-core/tools/patch/v4a/parse-patch.ts";

/** The file after the replacement; undefined when it is refused. */
function replaced(text: string, oldString: string, newString: string, replaceAll = false): string | undefined {
  const result = replaceText(text, { oldString, newString, replaceAll });
  return result.kind === "changed" ? result.newText : undefined;
}

/** The file after a patch of it; undefined when it is refused. */
function patched(text: string, ...lines: readonly string[]): string | undefined {
  const parsed = parsePatch(["*** Begin Patch", "*** Update File: a", ...lines, "*** End Patch"].join("\n"));
  const [section] = parsed.ok ? parsed.sections : [];
  const result = section?.kind === "update" ? applyHunks(text, section.hunks) : undefined;
  return result?.ok ? result.text : undefined;
}

type Row = readonly [name: string, file: string, oldString: string, newString: string, expected: string | undefined];

const cases = (rows: readonly Row[]) =>
  rows.map(([name, file, oldString, newString, expected]) => ({
    name,
    file,
    edit: [oldString, newString] as const,
    expected,
  }));

describe("a blank line at the end of both texts", () => {
  const FILE = "one();\ntwo();\n\nfour();\n";
  test.each(
    cases([
      ["is a number of read_file", FILE, "1|one();\n2|two();\n3|", "one();\nTWO();\n", "one();\nTWO();\n\nfour();\n"],
      ["has blanks in old_string", FILE, "one();  \ntwo();  \n  ", "one();\nTWO();\n", "one();\nTWO();\n\nfour();\n"],
      ["has blanks in both", FILE, "two(); \n  ", "TWO();\n\t", "one();\nTWO();\n\nfour();\n"],
      ["is two lines", FILE, "1|one();\n2|two();\n3|\n", "ONE();\ntwo();\n\n", "ONE();\ntwo();\n\nfour();\n"],
      ["of Windows", "a  \r\nb\r\n\r\nc\r\n", "a\r\nb\r\n  ", "a\r\nB\r\n", "a  \r\nB\r\n\r\nc\r\n"],
      ["is in old_string alone, and goes", FILE, "two(); \n\nfour();", "two();\nfour();", "one();\ntwo();\nfour();\n"],
    ]),
  )("$name: the file's own stays", ({ file, edit, expected }) => {
    expect(replaced(file, ...edit)).toBe(expected);
  });
});

describe("an @@ line that is at several places", () => {
  const PYTHON = "class A:\n    def run(self):\n        return 1\n\nclass B:\n    def run(self):\n        return 2\n";
  const JS = "test('a', () => {\n  first();\n});\ntest('a', () => {\n  second();\n});\n";
  const CSS = ".a {\n  color: red;\n}\n.b {\n  color: blue;\n}\n@media x {\n  .a {\n    color: green;\n  }\n}\n";
  test.each<readonly [string, string, readonly string[], string | undefined]>([
    [
      "leaves the hunk the one place that has its lines",
      PYTHON,
      ["@@     def run(self):", "-        return 2", "+        return 3"],
      PYTHON.replace("return 2", "return 3"),
    ],
    ["of tests", JS, ["@@ test('a', () => {", "-  second();", "+  other();"], JS.replace("second", "other")],
    ["of rules", CSS, ["@@ .a {", "-    color: green;", "+    color: black;"], CSS.replace("green", "black")],
    [
      "and of another one within it",
      PYTHON.replaceAll("return", "x = 0\n        return"),
      ["@@     def run(self):", "@@         x = 0", "-        return 1", "+        return 7"],
      PYTHON.replaceAll("return", "x = 0\n        return").replace("return 1", "return 7"),
    ],
    [
      "for a second hunk",
      PYTHON,
      [
        "@@     def run(self):",
        "-        return 1",
        "+        return 8",
        "@@     def run(self):",
        "-        return 2",
        "+        return 9",
      ],
      PYTHON.replace("return 1", "return 8").replace("return 2", "return 9"),
    ],
    [
      "refuses lines that fit more than one",
      PYTHON,
      ["@@     def run(self):", "-    def run(self):", "+    def go(self):"],
      undefined,
    ],
    ["refuses lines without a place of their own", PYTHON, ["@@     def run(self):", "+        log()"], undefined],
  ])("%s", (_, file, lines, expected) => {
    expect(patched(file, ...lines)).toBe(expected);
  });
});

describe("a place that is only alike", () => {
  const CODE =
    "const first = load(one);\nconst second = load(two);\nconst third = load(three);\nsave(first, second);\n";
  test.each(
    cases([
      [
        "keeps a line that was remembered wrongly",
        CODE,
        "const first = load(ones);\nconst second = load(two);\nconst third = load(three);",
        "const first = load(ones);\nconst second = load(two);\nconst third = open(three);",
        CODE.replace("third = load", "third = open"),
      ],
      [
        "is refused when a line that goes is another one",
        CODE,
        "const first = load(one);\nconst secnd = load(two);\nconst third = load(three);",
        "const first = load(one);\nconst second = open(two);\nconst third = load(three);",
        undefined,
      ],
      [
        "keeps a line in whose place the text has another one",
        CODE,
        "const first = load(one);\nconst third = load(three);\nsave(first, second);",
        "const first = load(one);\nconst third = open(three);\nsave(first, second);",
        CODE.replace("third = load", "third = open"),
      ],
      [
        "is refused when brackets are what is equal",
        '{\n  "a": {\n    "x": 1\n  },\n  "b": {\n    "y": 2\n  },\n}\n',
        '"b": {\n    "z": 2\n  },\n}',
        '"b": {\n    "z": 3\n  },\n}',
        undefined,
      ],
      [
        "is refused with one equal line",
        "return alpha;\nvalue = compute(beta);\n",
        "return alpha;\nvalue = compute(bet);",
        "return gamma;\nvalue = compute(bet);",
        undefined,
      ],
      [
        "is refused for a key of JSON that would be there twice",
        '{\n  "name": "demo",\n  "version": "1.0.0",\n  "license": "MIT"\n}\n',
        '  "name": "demo",\n  "version": "1.0.1",\n  "license": "MIT"',
        '  "name": "demo",\n  "version": "1.1.0",\n  "license": "MIT"',
        undefined,
      ],
    ]),
  )("$name", ({ file, edit, expected }) => {
    expect(replaced(file, ...edit)).toBe(expected);
  });
});

describe("the depth of new lines", () => {
  const DEEP = "class A {\n    run() {\n        if (x) {\n            go();\n        }\n    }\n}\n";
  test.each(
    cases([
      [
        "follows a shift",
        DEEP,
        "if (x) {\n    go();\n}",
        "if (x) {\n    go();\n    on();\n}",
        DEEP.replace("go();", "go();\n            on();"),
      ],
      [
        "follows half of the width",
        DEEP,
        "    if (x) {\n      go();\n    }",
        "    if (x) {\n      go();\n      if (y) {\n        on();\n      }\n    }",
        DEEP.replace("go();", "go();\n            if (y) {\n                on();\n            }"),
      ],
      [
        "follows tabs",
        DEEP,
        "\t\tif (x) {\n\t\t\tgo();\n\t\t}",
        "\t\tif (x) {\n\t\t\tgo();\n\t\t\ton();\n\t\t}",
        DEEP.replace("go();", "go();\n            on();"),
      ],
      [
        "is unclear where neither explains the lines",
        DEEP,
        "   if (x) {\n     go();\n   }",
        "   if (x) {\n     go();\n       on();\n   }",
        undefined,
      ],
      [
        "is unclear where the lines have several ratios",
        DEEP,
        "  run() {\n   if (x) {\n     go();\n   }\n  }",
        "  run() {\n   if (x) {\n     go();\n        on();\n   }\n  }",
        undefined,
      ],
      [
        "is that of a line that is as deep, also then",
        DEEP,
        "   if (x) {\n     go();\n   }",
        "   if (x) {\n     go();\n     on();\n   }",
        DEEP.replace("go();", "go();\n            on();"),
      ],
    ]),
  )("$name", ({ file, edit, expected }) => {
    expect(replaced(file, ...edit)).toBe(expected);
  });
});

describe("a line without its indentation", () => {
  const YAML = "jobs:\n  test:\n    runs-on: linux\n    steps: []\n";
  test.each(
    cases([
      [
        "takes its new neighbour along",
        YAML,
        "runs-on: linux",
        "runs-on: mac\ntimeout: 5",
        YAML.replace("linux", "mac\n    timeout: 5"),
      ],
      [
        "takes a deeper one along",
        YAML,
        "steps: []",
        "steps:\n- run: a\n  name: b",
        YAML.replace("steps: []", "steps:\n    - run: a\n      name: b"),
      ],
      ["of tabs", "a {\n\tb;\n}\n", "b;", "b;\nc;", "a {\n\tb;\n\tc;\n}\n"],
      ["of Windows", "a:\r\n  b: 1\r\n", "b: 1", "b: 2\nc: 3", "a:\r\n  b: 2\r\n  c: 3\r\n"],
      [
        "leaves lines that have it",
        YAML,
        "runs-on: linux",
        "runs-on: mac\n    timeout: 5",
        YAML.replace("linux", "mac\n    timeout: 5"),
      ],
      [
        "leaves lines after a blank one",
        "def a():\n    return 1\n",
        "return 1",
        "return 2\n\n\ndef b():\n    pass",
        "def a():\n    return 2\n\n\ndef b():\n    pass\n",
      ],
      ["leaves a part of a line", YAML, "runs-on", "x: 1\nruns-on", YAML.replace("runs-on", "x: 1\nruns-on")],
    ]),
  )("$name", ({ file, edit, expected }) => {
    expect(replaced(file, ...edit)).toBe(expected);
  });
});

describe("typographic quotes by the model", () => {
  test.each(
    cases([
      [
        "in a changed line",
        '{\n  "which": "^0.1.0",\n}\n',
        "  “which”: “^0.1.0”,",
        "  “which-command”: “^0.2.0”,",
        '{\n  "which-command": "^0.2.0",\n}\n',
      ],
      ["in an added line", 'say("a");\n', "say(“a”);", "say(“a”);\nsay(“b”);", 'say("a");\nsay("b");\n'],
      ["in single quotes", "say('a');\n", "say(‘a’);", "say(‘b’);", "say('b');\n"],
      ["in low quotes", 'say("a");\n', "say(„a“);", "say(„b“);", 'say("b");\n'],
      [
        "in a line beside",
        'const x = "a";\nconst y = 1;\n',
        "const x = “a”;\nconst y = 1;",
        "const x = “a”;\nconst y = “b”;",
        'const x = "a";\nconst y = "b";\n',
      ],
      [
        "but not where the file has them",
        "say “a” and 'b'\n",
        "say “a” and ‘b’",
        "say “a” and ‘c’",
        "say “a” and 'c'\n",
      ],
      ["but not in text that is asked for", 'title = "a"\n', 'title = "a"', 'title = "“a”"', 'title = "“a”"\n'],
    ]),
  )("$name become plain", ({ file, edit, expected }) => {
    expect(replaced(file, ...edit)).toBe(expected);
  });
});

describe("whole lines that nothing replaces", () => {
  const FILE = "one\n  two\nthree\n";
  test.each(
    cases([
      ["in the middle", FILE, "  two", "", "one\nthree\n"],
      ["without their indentation", FILE, "two", "", "one\nthree\n"],
      ["at the beginning", FILE, "one", "", "  two\nthree\n"],
      ["at the end", "one\ntwo", "two", "", "one\n"],
      ["of Windows", "one\r\ntwo\r\nthree\r\n", "two", "", "one\r\nthree\r\n"],
      ["several", FILE, "one\n  two", "", "three\n"],
      ["with their break and without their indentation", FILE, "two\n", "", "one\nthree\n"],
      ["but not with the break before them", "one\n\n  two\nthree\n", "\n  two", "", "one\n\nthree\n"],
      ["with their break", FILE, "  two\n", "", "one\nthree\n"],
      ["but not a part of a line", "a b\nc\n", " b", "", "a\nc\n"],
      ["but not with a break of another", FILE, "one\n", "", "  two\nthree\n"],
    ]),
  )("$name take their line break with them", ({ file, edit, expected }) => {
    expect(replaced(file, ...edit)).toBe(expected);
  });

  test("take it at each place when all are meant, unless one is a part of a line", () => {
    expect(replaced("x\na\nx\n", "x", "", true)).toBe("a\n");
    expect(replaced("x\na x\n", "x", "", true)).toBe("\na \n");
  });
});
