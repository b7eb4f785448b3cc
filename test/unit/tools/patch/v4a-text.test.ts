import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { asV4a } from "../../../../agent-core/tools/patch/v4a/parse-patch.ts";
import { tool } from "../../../../agent-core/tools/patch.ts";
import { type Bench, toolBench } from "../../../support/tool-context.ts";

let bench: Bench;
beforeEach(() => {
  bench = toolBench();
});
const at = (name: string): string => join(bench.folder, name);
const put = (name: string, content: string): void => writeFileSync(at(name), content);
const text = (name: string): string => readFileSync(at(name), "utf8");
const apply = (...lines: string[]) => bench.run(tool, { mode: "patch", patch: lines.join("\n") });

describe("an added file", () => {
  test.each<[string, readonly string[], string]>([
    ["keeps blank lines whose plus sign was forgotten", ["+one", "", "+two", ""], "one\n\ntwo\n"],
    ["may come with the heads of a diff", ["--- /dev/null", "+++ b/a.txt", "@@ -0,0 +1,1 @@", "+one"], "one\n"],
    ["may end without a newline", ["+one", "\\ No newline at end of file"], "one"],
    ["may be empty", [], ""],
    ["may hold what looks like a patch", ["+*** Delete File: b.txt", "+@@", "+-x"], "*** Delete File: b.txt\n@@\n-x\n"],
  ])("%s", async (_name, lines, content) => {
    expect(await apply("*** Begin Patch", "*** Add File: a.txt", ...lines, "*** End Patch")).toMatchObject({
      ok: true,
    });
    expect(text("a.txt")).toBe(content);
  });

  test("is refused when a line may belong to it or not", async () => {
    const result = await apply("*** Add File: a.txt", "+one", "two", "+three");
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining('has no + before it: "two"') });
    expect(existsSync(at("a.txt"))).toBe(false);
  });
});

test("each of several patches in one text is carried out, and the text between them is no part of them", async () => {
  put("a.txt", "one\n");
  await apply(
    ...["Here it is:", "*** Begin Patch", "*** Update File: a.txt", "-one", "+ONE", "*** End Patch"],
    ...["and then", "*** Begin Patch", "*** Add File: b.txt", "+two", "*** End Patch", "That is all."],
  );
  expect([text("a.txt"), text("b.txt")]).toEqual(["ONE\n", "two\n"]);
});

test("an absolute path is taken as it is", async () => {
  put("a.txt", "one\n");
  await apply(`*** Update File: ${at("a.txt")}`, "-one", "+ONE");
  expect(text("a.txt")).toBe("ONE\n");
});

describe("files that move about", () => {
  beforeEach(() => {
    put("a.txt", "a\n");
    put("b.txt", "b\n");
  });

  test("may do so twice", async () => {
    await apply("*** Move File: a.txt -> x.txt", "*** Update File: x.txt", "*** Move to: y/z.txt", "-a", "+A");
    expect([existsSync(at("a.txt")), existsSync(at("x.txt")), text("y/z.txt")]).toEqual([false, false, "A\n"]);
  });

  test("and come back are where they were", async () => {
    await apply("*** Move File: a.txt -> x.txt", "*** Move File: x.txt -> a.txt", "*** Update File: a.txt", "-a", "+A");
    expect(text("a.txt")).toBe("A\n");
  });

  test("and are deleted then are gone", async () => {
    expect(await apply("*** Move File: a.txt -> x.txt", "*** Delete File: x.txt")).toMatchObject({ ok: true });
    expect([existsSync(at("a.txt")), existsSync(at("x.txt"))]).toEqual([false, false]);
  });

  test("may take the name of a deleted one", async () => {
    expect(await apply("*** Delete File: b.txt", "*** Move File: a.txt -> b.txt")).toMatchObject({ ok: true });
    expect([existsSync(at("a.txt")), text("b.txt")]).toEqual([false, "a\n"]);
  });

  test("leave their place to a new one", async () => {
    expect(await apply("*** Move File: a.txt -> x.txt", "*** Add File: a.txt", "+new")).toMatchObject({ ok: true });
    expect([text("a.txt"), text("x.txt")]).toEqual(["new\n", "a\n"]);
  });

  test("cannot be changed under their old names", async () => {
    const result = await apply("*** Move File: a.txt -> x.txt", "*** Update File: a.txt", "-a", "+A");
    expect(result.text).toContain("a.txt: it does not exist.");
    expect([text("a.txt"), existsSync(at("x.txt"))]).toEqual(["a\n", false]);
  });

  test("are not moved where a link would lead nowhere", async () => {
    symlinkSync("a.txt", at("link"));
    mkdirSync(at("deep"));
    const result = await apply("*** Move File: link -> deep/link");
    expect(result).toMatchObject({ ok: false, text: expect.stringContaining("symbolic link") });
    expect(await apply("*** Move File: link -> other")).toMatchObject({ ok: true });
    expect(text("other")).toBe("a\n");
  });
});

/** The patch of a block in the form of Cline, Aider or Roo. */
const block = (search: string, replace: string): string =>
  asV4a(`<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE`, "a.txt") ?? "";

test.each([
  ["a conflict's both sides", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", "a\n"],
  ["a conflict that Roo escapes", "\\<<<<<<< HEAD\na\n\\=======\nb\n\\>>>>>>> main\n", "a\n"],
  ["a conflict with its base", "a\n||||||| base\nb\n", "a\n"],
  ["a heading as long as the divider", "Install\n=======\nold\n", "Install\n=======\nnew\n"],
  ["a new heading as long as the divider", "Install\n", "Install\n=======\n"],
  ["a block without an end before it", "one\n=======\nONE\n<<<<<<< SEARCH\ntwo\n", "TWO\n"],
])("a block with %s is refused, since its divider is not clear", (_, search, replace) => {
  expect(block(search, replace)).toBe("");
  const cline = `------- SEARCH\n${search}=======\n${replace}+++++++ REPLACE`;
  expect(asV4a(cline, "a.txt")).toBeUndefined();
  expect(asV4a(`a.txt\n\`\`\`\n${cline}\n\`\`\``, undefined)).toBeUndefined();
});

test.each([
  ["a short heading", "Title\n=====\nold\n", "Title\n=====\nnew\n"],
  ["a long heading", "Changes\n==========\nold\n", "Changes\n==========\nnew\n"],
  ["a rule and an arrow", "-----\n>>>>> old\n", "-----\n>>>>> new\n"],
  ["strict equality and a comment", "  a === b;\n//=======\n", "  a !== b;\n//=======\n"],
])("a block with %s changes all of it", async (_, search, replace) => {
  put("a.txt", `before\n${search}after\n`);
  expect(await apply(block(search, replace))).toMatchObject({ ok: true });
  expect(text("a.txt")).toBe(`before\n${replace}after\n`);
});

test.each([
  ["git", "--- a/x.ts\n+++ b/x.ts", "x.ts"],
  ["git, in a folder b", "--- a/b/x.ts\n+++ b/b/x.ts", "b/x.ts"],
  ["git without prefixes, in a folder a", "--- a/x.ts\n+++ a/x.ts", "a/x.ts"],
  ["git without prefixes, in a folder b", "--- b/x.ts\n+++ b/x.ts", "b/x.ts"],
  ["diff -u with times", "--- x.ts 2024-01-02 00:00:00\n+++ x.ts 2024-01-02 00:00:01.5 +0000", "x.ts"],
  ["diff -u with times after tabs", "--- a/x.ts\t2024-01-02\n+++ b/x.ts\t2024-01-02", "x.ts"],
  [
    "git of a rename",
    "diff --git a/x.ts b/new.ts\nsimilarity index 90%\nrename from x.ts\nrename to new.ts\n--- a/x.ts\n+++ b/new.ts",
    "new.ts",
  ],
])("a unified diff of %s changes the one file that it names", async (_, heads, changed) => {
  const names = ["x.ts", "a/x.ts", "b/x.ts"];
  for (const folder of ["a", "b"]) mkdirSync(at(folder));
  for (const name of names) put(name, "one\n");
  const patch = asV4a(`${heads}\n@@ -1 +1 @@\n-one\n+ONE\n`, undefined) ?? "";
  expect(await apply(patch)).toMatchObject({ ok: true });
  const all = [...new Set([...names, changed])].filter((name) => existsSync(at(name)));
  expect(all.filter((name) => text(name) === "ONE\n")).toEqual([changed]);
  expect(existsSync(at("x.ts"))).toBe(changed !== "new.ts");
});

test("a diff of git for a file that is missing changes no file of a shorter path", async () => {
  put("x.ts", "one\n");
  for (const folder of ["a", "b"]) {
    const patch = asV4a(`--- a/${folder}/x.ts\n+++ b/${folder}/x.ts\n@@ -1 +1 @@\n-one\n+ONE\n`, undefined) ?? "";
    expect(await apply(patch)).toMatchObject({ ok: false });
  }
  expect(text("x.ts")).toBe("one\n");
});

test("a diff with a rename that has no lines is refused in full", async () => {
  put("a.txt", "one\n");
  const rename = "diff --git a/b.txt b/c.txt\nsimilarity index 100%\nrename from b.txt\nrename to c.txt\n";
  const edit = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+ONE\n";
  for (const patch of [rename, rename + edit, edit + rename])
    expect(await apply(asV4a(patch, undefined) ?? patch)).toMatchObject({ ok: false });
  expect(text("a.txt")).toBe("one\n");
});
