import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { titleInFolders, withMeantPaths } from "../../../agent-core/host/workspace-folders.ts";
import { tool } from "../../../agent-core/tools/search-files.ts";
import { toolBench } from "../../support/tool-context.ts";

test.each(["*.md", "**/*.md", "*read*"])(
  "the glob %s in place of an expression finds files by name",
  async (pattern) => {
    const { folder, run } = toolBench();
    writeFileSync(join(folder, "read.md"), "one\n");
    const { text } = await run(tool, { pattern });
    expect(text).toBe("read.md\n[files by name: the pattern is no regular expression]");
  },
);

test("a search over a folder leaves out the text of secret files, but lists their names", async () => {
  const { folder, run } = toolBench();
  mkdirSync(join(folder, "sub"));
  writeFileSync(join(folder, "a.txt"), "the word\n");
  writeFileSync(join(folder, "sub/.env"), "KEY=the word\n");
  for (const mode of ["content", "count", "files_only"]) {
    expect((await run(tool, { pattern: "the word", output_mode: mode })).text).not.toContain(".env");
  }
  expect((await run(tool, { pattern: ".env", target: "files" })).text).toBe("sub/.env");
  expect((await run(tool, { pattern: "the word", path: "sub/.env" })).text).toContain("KEY=the word");
});

test("counts and names of files are complete above the limit of hits, and lines beyond it are called incomplete", async () => {
  const { folder, run } = toolBench();
  writeFileSync(join(folder, "a.txt"), "x x\n".repeat(10_001));
  expect((await run(tool, { pattern: "x", output_mode: "count" })).text).toBe("a.txt: 20002");
  expect((await run(tool, { pattern: "x", output_mode: "files_only" })).text).toBe("a.txt");
  expect((await run(tool, { pattern: "x", offset: 9_990 })).text).toContain("[incomplete: the search stopped early");
});

test.each([
  ["at the end of a long line", `${"a".repeat(12_000)}needle`, "…"],
  ["in the middle", `${"a".repeat(400)}needle${"b".repeat(400)}`, "…"],
  ["at the start", `needle${"b".repeat(400)}`, "1: needle"],
  ["behind wide characters", `${"界".repeat(400)}needle`, "…"],
  ["behind other text of one line of JSON", JSON.stringify({ a: "x".repeat(900), needle: 1 }), "…"],
])("a hit %s is shown with its match", async (_, line, expected) => {
  const { folder, run } = toolBench();
  writeFileSync(join(folder, "a.txt"), `${line}\n`);
  const { text } = await run(tool, { pattern: "needle" });
  expect(text).toContain("needle");
  expect(text).toContain(expected);
  expect(text.length).toBeLessThan(330);
});

test.each([
  ["the alternation of grep", "nothing\\|one", "one"],
  ["a group of grep", "\\(one\\|two\\) (x)", "one (x)"],
  ["quotes around it", '"one"', "one (x)"],
  ["slashes around it", "/ONE/i", "one"],
  ["backslashes that are doubled", "one \\\\(x\\\\)", "one (x)"],
  ["a straight quote for a curly one", "don't", "don’t"],
  ["a blank for one that does not break", "a b", "a\u00a0b"],
])("a pattern with %s finds what it means, and the result says so", async (_, pattern, expected) => {
  const { folder, run } = toolBench();
  writeFileSync(join(folder, "a.txt"), "one (x)\ndon’t\na\u00a0b\nc < d\n");
  const { text } = await run(tool, { pattern });
  expect(text).toContain(expected);
  expect(text).toMatch(/\[these match .+; the pattern as written matches nothing\]$/);
});

test("a glob may repeat the path, and a file that is named needs none", async () => {
  const { folder, run } = toolBench();
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/a.ts"), "one\n");
  const hit = "src/a.ts:1: one";
  expect((await run(tool, { pattern: "one", path: "src", file_glob: "src/**/*.ts" })).text).toBe(hit);
  expect((await run(tool, { pattern: "one", path: "src/a.ts", file_glob: "src/a.ts" })).text).toBe(hit);
  expect((await run(tool, { pattern: "one", path: "src", file_glob: "src" })).text).toBe(hit);
  expect((await run(tool, { pattern: "one", path: "src/a.ts", file_glob: "*.js" })).text).toBe(hit);
  expect((await run(tool, { pattern: "one", file_glob: ".*\\.ts" })).text).toBe(hit);
});

test("an empty result says which files were not searched", async () => {
  const { run } = toolBench();
  expect((await run(tool, { pattern: "needle" })).text).toContain("files over 10 MB");
});

test("a search without a folder reaches every folder of the workspace", async () => {
  const { folder, context } = toolBench();
  const lib = toolBench().folder;
  writeFileSync(join(folder, "a.txt"), "the word\n");
  writeFileSync(join(lib, "b.txt"), "the word\n");
  const search = async (input: object): Promise<string> => {
    const preparation = tool.prepare(input, folder);
    const staged = preparation.ok && (await preparation.call.stage({ ...context, otherFolders: [lib] }));
    return staged && staged.ok ? (await staged.run()).text : "";
  };
  expect(await search({ pattern: "the word", output_mode: "files_only" })).toBe(`a.txt\n${join(lib, "b.txt")}`);
  expect(await search({ pattern: "the word", path: lib, output_mode: "files_only" })).toBe(join(lib, "b.txt"));
});

test("a path that begins with the name of a further folder starts there, unless the working folder has that name", () => {
  const { folder } = toolBench();
  const [lib, other] = [join(folder, "../lib"), join(folder, "../other")];
  const resolved = (path: string) => withMeantPaths({ path, limit: 1 }, { cwd: folder, otherFolders: [lib, other] });
  expect(resolved("lib/src/b.ts")).toEqual({ path: join(lib, "src/b.ts"), limit: 1 });
  expect(resolved(`${basename(folder)}/a.ts`)).toEqual({ path: join(folder, "a.ts"), limit: 1 });
  mkdirSync(join(folder, "other"));
  expect([resolved("other/b.ts"), resolved("src/b.ts")]).toEqual([
    { path: "other/b.ts", limit: 1 },
    { path: "src/b.ts", limit: 1 },
  ]);
  expect(titleInFolders(`Read ${lib}/b.ts`, folder, [lib])).toBe("Read lib/b.ts");
});

test.each([
  ["a call", "render(", "a.ts:2", {}],
  ["a type of Go", "map[string]interface{}", "a.ts:3", {}],
  ["a path with a glob", "alpha", "a.ts:1", { path: "*.ts" }],
])("%s that is no regular expression for the text is found as it stands", async (_, pattern, found, more) => {
  const { folder, run } = toolBench();
  writeFileSync(join(folder, "a.ts"), "alpha\nrender(x)\nvar m map[string]interface{}\n");
  expect((await run(tool, { pattern, ...more })).text).toContain(found);
});

test.each(["latin1", "utf16le"] as const)("text in %s is found, and shown in its letters", async (encoding) => {
  const { folder, run } = toolBench();
  writeFileSync(
    join(folder, "a.rc"),
    Buffer.from(`${encoding === "latin1" ? "" : "\ufeff"}Gr\u00f6\u00dfe\r\n`, encoding),
  );
  expect((await run(tool, { pattern: "Gr\u00f6\u00dfe" })).text).toBe("a.rc:1: Gr\u00f6\u00dfe");
});
