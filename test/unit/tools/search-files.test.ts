import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { inWorkspaceFolders, titleInFolders } from "../../../agent-core/host/workspace-folders.ts";
import { tool } from "../../../agent-core/tools/search-files.ts";
import { toolBench } from "../../support/tool-context.ts";

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

test("counts of a search that stopped early are called incomplete", async () => {
  const { folder, run } = toolBench();
  writeFileSync(join(folder, "a.txt"), "x\n".repeat(10_001));
  expect((await run(tool, { pattern: "x", output_mode: "count" })).text).toBe(
    "a.txt: 10000\n[incomplete: the search stopped early; narrow the pattern, path or file_glob]",
  );
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
  const resolved = (path: string) => inWorkspaceFolders({ path, limit: 1 }, folder, [lib, other]);
  expect(resolved("lib/src/b.ts")).toEqual({ path: join(lib, "src/b.ts"), limit: 1 });
  expect(resolved(`${basename(folder)}/a.ts`)).toEqual({ path: join(folder, "a.ts"), limit: 1 });
  mkdirSync(join(folder, "other"));
  expect([resolved("other/b.ts"), resolved("src/b.ts")]).toEqual([
    { path: "other/b.ts", limit: 1 },
    { path: "src/b.ts", limit: 1 },
  ]);
  expect(titleInFolders(`Read ${lib}/b.ts`, folder, [lib])).toBe("Read lib/b.ts");
});
