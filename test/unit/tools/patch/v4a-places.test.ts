import { describe, expect, test } from "vitest";
import { replaceText } from "../../../../agent-core/tools/patch/replace.ts";
import { applyHunks } from "../../../../agent-core/tools/patch/v4a/apply-hunks.ts";
import { parsePatch } from "../../../../agent-core/tools/patch/v4a/parse-patch.ts";

/** The text with the hunks put in, or why not. */
function apply(text: string, ...lines: string[]): string {
  const parsed = parsePatch(["*** Update File: a", ...lines].join("\n"));
  const [section] = parsed.ok ? parsed.sections : [];
  if (section?.kind !== "update") throw new Error("no update");
  return applyHunks(text, section.hunks).text;
}

const CLASSES = `class A:
    def run(self):
        return 1

    def stop(self):
        return 1

class B:
    def run(self):
        return 1
`;

describe("an @@ line", () => {
  test("names what it begins: only there the lines must be the only ones", () => {
    expect(apply(CLASSES, "@@ class A:", "@@     def stop(self):", "-        return 1", "+        return 2")).toBe(
      CLASSES.replace("stop(self):\n        return 1", "stop(self):\n        return 2"),
    );
  });

  test("that stands in several blocks is looked for in the one that the @@ line before names", () => {
    expect(apply(CLASSES, "@@ class A:", "@@ def run(self):", "-        return 1", "+        return 2")).toBe(
      CLASSES.replace("return 1", "return 2"),
    );
  });

  test("does not choose between two places in its own block", () => {
    expect(apply(CLASSES, "@@ class A:", "-        return 1", "+        return 2")).toContain("2 places (lines 3, 6)");
  });

  test("reaches to the bracket that closes its block, over a signature of several lines", () => {
    const source = "void a(\n  int x\n)\n{\n  go();\n}\nvoid b()\n{\n  go();\n}\n";
    expect(apply(source, "@@ void a(", "-  go();", "+  stop();")).toBe(source.replace("go", "stop"));
  });

  test("may be given again for a second hunk, which then stands behind the first", () => {
    const source = "function f() {\n  a();\n  x();\n  b();\n  x();\n}\n";
    const patched = apply(
      source,
      ...["@@ function f() {", "   b();", "-  x();", "+  y();"],
      ...["@@ function f() {", "-  a();"],
    );
    expect(patched).toBe("function f() {\n  x();\n  b();\n  y();\n}\n");
  });

  test("whose lines stand before it only is refused", () => {
    expect(apply("x = 1\ndef f():\n    pass\n", "@@ def f():", "-x = 1", "+x = 2")).toContain(
      "not in the file behind its @@ line",
    );
  });
});

describe("never a guess", () => {
  test("places that overlap are two places", () => {
    expect(apply("x();\nx();\nx();\n", " x();", "-x();")).toContain("2 places (lines 1, 2)");
    expect(replaceText("a aaa b", { oldString: "aa", newString: "b", replaceAll: false })).toMatchObject({
      kind: "refused",
    });
    expect(replaceText("aaaa", { oldString: "aa", newString: "b", replaceAll: true })).toMatchObject({
      newText: "bb",
      count: 2,
    });
  });

  test("a text to the letter before the last hunk is preferred to one that is merely alike behind it", () => {
    const source = "first();\nsecond(1);\nthird();\nmiddle();\nfirst();\nsecond(2);\nthird();\n";
    expect(
      apply(source, "@@", "-middle();", "+center();", "@@", " first();", "-second(1);", "+SECOND;", " third();"),
    ).toBe(source.replace("middle", "center").replace("second(1);", "SECOND;"));
  });

  test("a carriage return and its line feed are never parted", () => {
    const edit = { oldString: "\ntwo", newString: "\nTWO", replaceAll: false };
    expect(replaceText("one\r\ntwo\r\n", edit)).toMatchObject({ newText: "one\r\nTWO\r\n" });
    expect(replaceText("one\r\ntwo\r\nthree\n", edit)).toMatchObject({ newText: "one\r\nTWO\r\nthree\n" });
  });
});

describe("hunks", () => {
  test("may share the lines between them", () => {
    expect(apply("1\n2\n3\n4\n5\n", "@@", " 1", "-2", "+two", " 3", "@@", " 3", "-4", "+four", " 5")).toBe(
      "1\ntwo\n3\nfour\n5\n",
    );
  });

  test.each<[string, string, readonly string[], string]>([
    [
      "changes a line that the first one added",
      "a();\nb();\n",
      [" a();", "+new();", "@@", "-new();", "+newer();"],
      "a();\nnewer();\nb();\n",
    ],
    [
      "has a line that the first one changed around it",
      "a();\nb();\nc();\n",
      ["-a();", "+A();", " b();", "@@", " A();", "-b();", "+B();"],
      "A();\nB();\nc();\n",
    ],
    [
      "is in a block that the first one added",
      "a();\n",
      [" a();", "+function f() {", "+  go();", "+}", "@@ function f() {", "-  go();", "+  stop();"],
      "a();\nfunction f() {\n  stop();\n}\n",
    ],
    [
      "prefers lines that were there before",
      "x = 1;\ny = 1;\n",
      ["-x = 1;", "+x = 2;", "+y = 1;", "@@", "-y = 1;", "+y = 2;"],
      "x = 2;\ny = 1;\ny = 2;\n",
    ],
  ])("a second one %s", (_, before, lines, after) => {
    expect(apply(before, "@@", ...lines)).toBe(after);
  });

  test("a second one is not found by likeness in what the first one made", () => {
    const twice = [
      "@@",
      "-const limit = 2;",
      "+const limit = 3;",
      "@@",
      " start();",
      "-const limit = 2;",
      "+const limit = 4;",
    ];
    expect(apply("start();\nconst limit = 2;\n", ...twice)).toContain("changes lines that another hunk changes too");
  });

  test("that were put in before are left out, and this is said", () => {
    const source = "alpha();\nbeta();\ngamma();\ndelta();\n";
    const lines = ["@@", " alpha();", "-old();", "+beta();", "@@", "-delta();", "+DELTA();"];
    expect(apply(source, ...lines)).toBe(source.replace("delta", "DELTA"));
  });

  test("that take away a comment with two dashes are not taken for the head of a diff", () => {
    expect(apply("-- old\nselect 1;\n", "--- old", "+-- new", " select 1;")).toBe("-- new\nselect 1;\n");
  });
});

describe("indentation", () => {
  test.each<[string, string, readonly string[], string]>([
    [
      "blanks of the model become the tabs of the file, level by level",
      "\tif (a) {\n\t\tb();\n\t}\n",
      ["     if (a) {", "-        b();", "+        if (c) {", "+            d();", "+        }", "     }"],
      "\tif (a) {\n\t\tif (c) {\n\t\t\td();\n\t\t}\n\t}\n",
    ],
    [
      "tabs of the model become the blanks of the file",
      "  if (a) {\n    b();\n  }\n",
      [" \tif (a) {", "-\t\tb();", "+\t\tif (c) {", "+\t\t\td();", "+\t\t}", " \t}"],
      "  if (a) {\n    if (c) {\n      d();\n    }\n  }\n",
    ],
    [
      "two blanks a level become four",
      "    if (a) {\n        b();\n    }\n",
      ["   if (a) {", "-    b();", "+    if (c) {", "+      d();", "+    }", "   }"],
      "    if (a) {\n        if (c) {\n            d();\n        }\n    }\n",
    ],
    [
      "a block that the model has moved to the left goes back",
      "        b();\n        c();\n",
      ["-b();", " c();", "+if (d) {", "+    e();", "+}"],
      "        c();\n        if (d) {\n            e();\n        }\n",
    ],
    [
      "what stands there to the letter says that the model's indentation is meant",
      "\ta();\n",
      [" \ta();", "+    b();"],
      "\ta();\n    b();\n",
    ],
  ])("%s", (_name, before, lines, after) => {
    expect(apply(before, ...lines)).toBe(after);
  });
});
