import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool as readFile } from "../../../agent-core/tools/read-file.ts";
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

test("after the user undid an edit, the next patch is refused and says so, with the text that is there", async () => {
  const { run, path } = await edited();
  change(path, "TWO", "two");
  const result = await run(patch, { path: "a.txt", old_string: "three", new_string: "THREE" });
  expect(result.ok).toBe(false);
  expect(result.text).toContain("undid 1 of your edits in a.txt");
  expect(result.text).toContain("-TWO\n+two\n three");
  expect(readFileSync(path, "utf8")).not.toContain("THREE");
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
  expect(result.text).toContain("a.txt has changed since you read it");
  expect(result.text).not.toContain("undid");
});

test("once it has read the file again, the model goes on", async () => {
  const { run, path } = await edited();
  change(path, "TWO", "two");
  await run(patch, { path: "a.txt", old_string: "three", new_string: "THREE" });
  await run(readFile, { path: "a.txt" });
  const result = await run(patch, { path: "a.txt", old_string: "three", new_string: "THREE" });
  expect(result.ok).toBe(true);
});
