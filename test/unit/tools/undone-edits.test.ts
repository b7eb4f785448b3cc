import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool as readFile } from "../../../agent-core/tools/read-file.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

const ORIGINAL = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

/** The model has read a.txt and changed its second and its seventh line. */
async function edited(): Promise<Bench & { readonly path: string }> {
  const bench = toolBench();
  const path = join(bench.folder, "a.txt");
  writeFileSync(path, ORIGINAL);
  await bench.run(readFile, { path: "a.txt" });
  await bench.run(patch, { path: "a.txt", old_string: "two", new_string: "TWO" });
  await bench.run(patch, { path: "a.txt", old_string: "seven", new_string: "SEVEN" });
  return { ...bench, path };
}

const change = (path: string, from: string, to: string): void =>
  writeFileSync(path, readFileSync(path, "utf8").replace(from, to));

test("after the user undid an edit, the next patch elsewhere is applied and says so, with the text that is there", async () => {
  const { run, path } = await edited();
  change(path, "TWO", "two");
  const result = await run(patch, { path: "a.txt", old_string: "three", new_string: "THREE" });
  expect(result.ok).toBe(true);
  expect(result.text).toContain("undid 1 of your edits: do not repeat");
  expect(result.text).toContain("-TWO\n+two\n three");
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\nTHREE\nfour\nfive\nsix\nSEVEN\neight\n");
});

test.each([
  ["two", "TWO"],
  ["one\n", "one\nTWO\n"],
])("an edit that the user undid is not made again by replacing %j", async (old_string, new_string) => {
  const { run, path } = await edited();
  change(path, new_string === "TWO" ? "TWO" : "TWO\n", new_string === "TWO" ? "two" : "");
  const before = readFileSync(path, "utf8");
  const result = await run(patch, { path: "a.txt", old_string, new_string });
  expect(result.ok).toBe(false);
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("both undone are both named", async () => {
  const { run, path } = await edited();
  writeFileSync(path, ORIGINAL);
  const result = await run(patch, { path: "a.txt", old_string: "three", new_string: "THREE" });
  expect(result.text).toContain("undid 2 of your edits");
});

test("another change of the user is no undo", async () => {
  const { run, path } = await edited();
  change(path, "four", "FOUR");
  const result = await run(patch, { path: "a.txt", old_string: "three", new_string: "THREE" });
  expect(result.text).toContain("The file had changed since it was read");
  expect(result.text).not.toContain("undid");
});

test("once it has read the file again, the model goes on", async () => {
  const { run, path } = await edited();
  change(path, "TWO", "two");
  await run(writeFile, { path: "a.txt", content: "THREE\n" });
  await run(readFile, { path: "a.txt" });
  const result = await run(patch, { path: "a.txt", old_string: "three", new_string: "THREE" });
  expect(result.ok).toBe(true);
});
