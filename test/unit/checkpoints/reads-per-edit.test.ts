import { afterEach, expect, test } from "vitest";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { FileMemory } from "../../../agent-core/tools/seen-files.ts";
import type { Tool, ToolContext } from "../../../agent-core/tools/tool.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";
import { CheckpointBench } from "../../support/checkpoint-bench.ts";
import { countReads } from "../../support/count-reads.ts";

const bench = new CheckpointBench();

afterEach(() => bench.dispose());

/** Number of times that one tool call reads `a.txt`, with checkpoints, from its preparation to its result. */
async function readsOf(tool: Tool, input: unknown): Promise<number> {
  const context = {
    host: bench.checkpoints.hostFor("call_1"),
    cwd: bench.folder,
    files: new FileMemory(),
    signal: new AbortController().signal,
  } as ToolContext;
  const reads = countReads();
  try {
    const prepared = tool.prepare(input, bench.folder);
    const staged = prepared.ok ? await prepared.call.stage(context) : prepared;
    if (!staged.ok) throw new Error(staged.text);
    const { ok, text } = await staged.run();
    if (!ok) throw new Error(text);
    return reads.paths.filter((path) => path === bench.path("a.txt")).length;
  } finally {
    reads.stop();
  }
}

test.each([
  ["a replacement", patch, { path: "a.txt", old_string: "two", new_string: "TWO" }],
  ["a patch", patch, { mode: "patch", patch: "*** Update File: a.txt\n-two\n+TWO" }],
  ["a whole new text", writeFile, { path: "a.txt", content: "ONE\n" }],
])("%s reads its file twice: to work out the change, and to guard the write", async (_, tool, input) => {
  bench.write("a.txt", "one\ntwo\n");
  expect(await readsOf(tool as Tool, input)).toBeLessThanOrEqual(2);
  expect(bench.journal.filter(({ type }) => type === "file-change")).not.toEqual([]);
});
