import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { tool } from "../../../../agent-core/tools/patch.ts";
import { tool as readFile } from "../../../../agent-core/tools/read-file.ts";
import { type Bench, toolBench } from "../../../support/tool-context.ts";

let bench: Bench;
beforeEach(() => {
  bench = toolBench();
});
const at = (name: string): string => join(bench.folder, name);
const put = (name: string, content: string | Buffer): void => writeFileSync(at(name), content);
const text = (name: string): string => readFileSync(at(name), "utf8");
const apply = (...lines: string[]) =>
  bench.run(tool, { mode: "patch", patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });

const SOURCE = "def a():\n    return 1\n\ndef b():\n    return 1\n";

describe("one file", () => {
  test("lines go, come and stay", async () => {
    put("a.py", SOURCE);
    const result = await apply("*** Update File: a.py", " def b():", "-    return 1", "+    return 2");
    expect(result).toMatchObject({ ok: true, text: expect.stringContaining("+    return 2") });
    expect(text("a.py")).toBe("def a():\n    return 1\n\ndef b():\n    return 2\n");
  });

  test("an @@ line says which of several places is meant", async () => {
    put("a.py", SOURCE);
    await apply("*** Update File: a.py", "@@ def b():", "-    return 1", "+    return 2");
    expect(text("a.py")).toBe("def a():\n    return 1\n\ndef b():\n    return 2\n");
  });

  test("several @@ lines lead from the outer to the inner", async () => {
    put("a.ts", "class A {\n  run() {\n    go();\n  }\n}\nclass B {\n  run() {\n    go();\n  }\n}\n");
    await apply("*** Update File: a.ts", "@@ class B {", "@@   run() {", "-    go();", "+    stop();");
    expect(text("a.ts")).toContain("class B {\n  run() {\n    stop();");
  });

  test("without an @@ line several places are refused, with their lines", async () => {
    put("a.py", SOURCE);
    const result = await apply("*** Update File: a.py", "-    return 1", "+    return 2");
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining("2 places (lines 2, 5)") });
    expect(text("a.py")).toBe(SOURCE);
  });

  test("an @@ line that stands at several places is refused", async () => {
    put("a.py", SOURCE);
    const result = await apply("*** Update File: a.py", "@@ return 1", "+    # end");
    expect(result.text).toContain('"return 1" is at 2 places (lines 2, 5)');
  });

  test("lines that are not there are refused with the nearest text and its line numbers", async () => {
    put("a.py", SOURCE);
    const result = await apply("*** Update File: a.py", " def b(x):", "-    return 10", "+    return 2");
    expect(result.text).toContain("a.py: its hunk: its lines are not in the file.");
    expect(result.text).toMatch(/nearest text is at line \d:\n\d\|def/);
  });

  test("several hunks are put in, also against the file's order", async () => {
    put("a.txt", "1\n2\n3\n4\n5\n6\n");
    await apply("*** Update File: a.txt", "@@", "-5", "+five", "@@", "-2", "+two", "+and a half");
    expect(text("a.txt")).toBe("1\ntwo\nand a half\n3\n4\nfive\n6\n");
  });

  test("hunks that change the same lines are refused", async () => {
    put("a.txt", "1\n2\n3\n");
    const result = await apply("*** Update File: a.txt", "@@", "-2", "+two", "@@", " 1", "-2", "+zwei");
    expect(result.text).toContain("changes lines that another hunk changes too");
    expect(text("a.txt")).toBe("1\n2\n3\n");
  });

  test("lines are only added behind an @@ line or at the end, else it is refused", async () => {
    put("a.txt", "1\n2\n");
    expect((await apply("*** Update File: a.txt", "+3")).text).toContain("does not say where");
    await apply("*** Update File: a.txt", "@@ 1", "+one and a half");
    await apply("*** Update File: a.txt", "+3", "*** End of File");
    expect(text("a.txt")).toBe("1\none and a half\n2\n3\n");
  });

  test("the end of the file decides between two places", async () => {
    put("a.txt", "x\ny\nx\n");
    await apply("*** Update File: a.txt", "-x", "+z", "*** End of File");
    expect(text("a.txt")).toBe("x\ny\nz\n");
  });

  test.each([
    ["CRLF", "one\r\ntwo\r\nthree\r\n", "one\r\nTWO\r\nthree\r\n"],
    ["mixed endings", "one\r\ntwo\nthree\r\n", "one\r\nTWO\nthree\r\n"],
    ["no final newline", "one\ntwo", "one\nTWO"],
    ["a byte order mark", "\ufeffone\ntwo\n", "\ufeffone\nTWO\n"],
    ["a lone CR in a line", "one\ra\ntwo\n", "one\ra\nTWO\n"],
    ["a line separator", "one\u2028a\ntwo\n", "one\u2028a\nTWO\n"],
    ["tabs at the ends", "one\t\ntwo\t\nthree\n", "one\t\nTWO\nthree\n"],
  ])("%s survive", async (_name, before, after) => {
    put("a.txt", before);
    await apply("*** Update File: a.txt", "-two", "+TWO");
    expect(text("a.txt")).toBe(after);
  });

  test("text is taken to the letter", async () => {
    put("a.txt", "one\n");
    await apply("*** Update File: a.txt", "-one", "+$& $1 $$ \\n");
    expect(text("a.txt")).toBe("$& $1 $$ \\n\n");
  });

  test("indentation that the model has wrong is the file's, and it is told", async () => {
    put("a.py", "class A:\n\tdef a(self):\n\t\treturn 1\n");
    const result = await apply("*** Update File: a.py", "     def a(self):", "-        return 1", "+        return 2");
    expect(result.text).toContain("was found");
    expect(text("a.py")).toContain("\tdef a(self):\n");
  });

  test("an empty file takes lines", async () => {
    put("a.txt", "");
    await apply("*** Update File: a.txt", "+one");
    expect(text("a.txt")).toBe("one\n");
  });
});

describe("a patch as models write it", () => {
  test.each([
    ["without a frame", "*** Update File: a.txt\n-two\n+TWO"],
    ["in a fence", "```diff\n*** Begin Patch\n*** Update File: a.txt\n-two\n+TWO\n*** End Patch\n```"],
    ["with CRLF", "*** Begin Patch\r\n*** Update File: a.txt\r\n-two\r\n+TWO\r\n*** End Patch\r\n"],
    [
      "with the headers of a unified diff",
      "*** Update File: a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three",
    ],
    ["with blanks forgotten before context", "*** Update File: a.txt\n@@\none\n-two\n+TWO\nthree"],
    ["with an a/ before the path", "*** Update File: a/a.txt\n-two\n+TWO"],
    ["with a quoted path", '*** Update File: "a.txt"\n-two\n+TWO'],
    ["with blank lines between sections", "*** Begin Patch\n\n*** Update File: a.txt\n\n-two\n+TWO\n\n*** End Patch\n"],
  ])("is understood %s", async (_name, patch) => {
    put("a.txt", "one\ntwo\nthree\n");
    expect(await bench.run(tool, { mode: "patch", patch })).toMatchObject({ ok: true });
    expect(text("a.txt")).toBe("one\nTWO\nthree\n");
  });

  test("is refused with an example when it is none", async () => {
    const result = await bench.run(tool, { mode: "patch", patch: "please change a.txt" });
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining("*** Update File: src/a.ts") });
    expect((await bench.run(tool, { mode: "patch" })).text).toContain("patch: is needed in mode patch");
    expect((await bench.run(tool, { path: "a.txt" })).text).toContain("old_string: is needed in mode replace");
  });

  test("may lack the plus signs of an added file", async () => {
    await apply("*** Add File: x/a.txt", "one", "", "two");
    expect(text("x/a.txt")).toBe("one\n\ntwo\n");
  });
});

describe("several files", () => {
  test("are added, changed, moved and deleted together", async () => {
    put("a.txt", "one\n");
    put("b.sh", "echo b\n");
    put("c.txt", "three\n");
    chmodSync(at("b.sh"), 0o755);
    const result = await apply(
      ...["*** Add File: new/d.txt", "+four"],
      ...["*** Update File: a.txt", "-one", "+ONE"],
      ...["*** Update File: b.sh", "*** Move to: bin/b.sh", "-echo b", "+echo B"],
      ...["*** Delete File: c.txt"],
    );
    expect(result.ok).toBe(true);
    expect(result.text).toContain("Created new/d.txt.");
    expect(result.text).toContain("Moved b.sh to bin/b.sh and changed it.");
    expect(result.text).toContain("Deleted c.txt.");
    expect(result.diffs?.map(({ path }) => path)).toEqual(["new/d.txt", "a.txt", "b.sh", "bin/b.sh", "c.txt"].map(at));
    expect([text("new/d.txt"), text("a.txt"), text("bin/b.sh")]).toEqual(["four\n", "ONE\n", "echo B\n"]);
    expect(statSync(at("bin/b.sh")).mode & 0o777).toBe(0o755);
    expect([existsSync(at("b.sh")), existsSync(at("c.txt"))]).toEqual([false, false]);
  });

  test("are all left alone when one part cannot be done", async () => {
    put("a.txt", "one\n");
    const result = await apply(
      ...["*** Update File: a.txt", "-one", "+ONE"],
      ...["*** Add File: b.txt", "+two"],
      ...["*** Update File: a.text", "-one", "+ONE"],
    );
    expect(result.text).toBe("patch: a.text: it does not exist. Similar names: a.txt. Nothing was changed.");
    expect([text("a.txt"), existsSync(at("b.txt"))]).toEqual(["one\n", false]);
  });

  test("a later section sees what an earlier one has made", async () => {
    put("a.txt", "one\ntwo\n");
    await apply(
      ...["*** Update File: a.txt", "-one", "+ONE"],
      ...["*** Update File: a.txt", "-ONE", "-two", "+2"],
      ...["*** Add File: b.txt", "+x"],
      ...["*** Update File: b.txt", "-x", "+y"],
    );
    expect([text("a.txt"), text("b.txt")]).toEqual(["2\n", "y\n"]);
  });

  test("a file that exists is not added, and one in the way of a move is kept", async () => {
    put("a.txt", "one\n");
    put("b.txt", "two\n");
    expect((await apply("*** Add File: a.txt", "+x")).text).toContain("it already exists");
    expect((await apply("*** Move File: a.txt -> b.txt")).text).toContain("already exists");
    expect([text("a.txt"), text("b.txt")]).toEqual(["one\n", "two\n"]);
  });

  test.each([
    "*** Delete File: b/a.txt",
    "*** Move File: b/a.txt -> c.txt",
    "*** Update File: a/a.txt\n*** Move to: c.txt",
  ])("a file that no old text shows is not taken for another one: %s", async (section) => {
    put("a.txt", "one\n");
    expect(await apply(section)).toMatchObject({ ok: false, text: expect.stringContaining("does not exist") });
    expect([text("a.txt"), existsSync(at("c.txt"))]).toEqual(["one\n", false]);
  });

  test("a link is removed, not what it points to", async () => {
    put("a.txt", "one\n");
    symlinkSync("a.txt", at("link"));
    await apply("*** Delete File: link");
    expect([existsSync(at("link")), text("a.txt")]).toEqual([false, "one\n"]);
  });

  test("a binary file and a folder are refused, never mangled", async () => {
    put("a.bin", Buffer.from([1, 0, 2]));
    mkdirSync(at("folder"));
    expect((await apply("*** Delete File: a.bin")).text).toContain("binary");
    expect((await apply("*** Update File: folder", "-a", "+b")).text).toContain("is a folder");
    expect(readFileSync(at("a.bin"))).toEqual(Buffer.from([1, 0, 2]));
  });
});

test("a file that changed since it was read is refused with what changed", async () => {
  put("a.txt", "one\ntwo\n");
  await bench.run(readFile, { path: "a.txt" });
  put("a.txt", "one\nzwei\n");
  const result = await apply("*** Update File: a.txt", "-one", "-two", "+ONE");
  expect(result.text).toContain("+zwei");
  expect(text("a.txt")).toBe("one\nzwei\n");
});

test("advice grows plainer with each refusal in a row, and begins anew after an edit", async () => {
  put("a.txt", "one\n");
  const miss = () => bench.run(tool, { path: "a.txt", old_string: "uno y dos", new_string: "x" });
  expect((await miss()).text).not.toContain("in a row");
  expect((await apply("*** Update File: a.txt", "-dos", "+x")).text).toContain("second edit in a row");
  expect((await miss()).text).toContain("write_file");
  await apply("*** Update File: a.txt", "-one", "+two");
  expect((await miss()).text).not.toContain("write_file");
});

test("every file that may be changed is named for the approval", () => {
  const patch = "*** Update File: a/b.txt\n*** Move to: c.txt\n-x\n+y\n*** Delete File: /etc/passwd\n";
  const preparation = tool.prepare({ mode: "patch", patch }, "/project");
  expect(preparation).toMatchObject({
    ok: true,
    call: {
      title: "Edit a/b.txt and 1 more",
      effect: { kind: "edit", paths: ["/project/a/b.txt", "/project/b.txt", "/project/c.txt", "/etc/passwd"] },
    },
  });
});
