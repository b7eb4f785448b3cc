import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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
