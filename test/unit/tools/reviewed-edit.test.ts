import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WriteReview } from "../../../agent-core/host/host.ts";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";
import { toolBench } from "../../support/tool-context.ts";

/** A bench whose host says of every write that the user decided first. */
function reviewedBench(review: WriteReview) {
  const bench = toolBench();
  const path = join(bench.folder, "a.txt");
  writeFileSync(path, "one\ntwo\nthree\n");
  const { host } = bench.context;
  const files = { ...host.files, guardedWrite: () => Promise.resolve({ ok: true as const, review }) };
  const context = { ...bench.context, host: { ...host, files } };
  return {
    path,
    context,
    async run(tool: typeof patch, input: unknown) {
      const preparation = tool.prepare(input, bench.folder);
      if (!preparation.ok) throw new Error(preparation.text);
      const staged = await preparation.call.stage(context);
      if (!staged.ok) throw new Error(staged.text);
      return staged.run();
    },
  };
}

const BOTH = { path: "a.txt", content: "ONE\ntwo\nTHREE\n" };

test("a part that was accepted: the model learns what was written and what was not", async () => {
  const bench = reviewedBench({ text: "ONE\ntwo\nthree\n", kept: 1, rejected: 1 });
  const { ok, text, diffs } = await bench.run(writeFile, BOTH);
  expect(ok).toBe(true);
  expect(text).toContain("the user accepted 1 of 2 changes");
  const [written, rejected] = text.split("Rejected by the user, not in the file:");
  expect(written).toContain("-one\n+ONE");
  expect(written).not.toContain("+THREE");
  expect(rejected).toContain("-three\n+THREE");
  expect(diffs).toEqual([{ path: bench.path, oldText: "one\ntwo\nthree\n", newText: "ONE\ntwo\nthree\n" }]);
  expect(bench.context.files.recall(bench.path)).toBe("ONE\ntwo\nthree\n");
});

test("everything rejected is a failed call that says that nothing was written", async () => {
  const bench = reviewedBench({ text: "one\ntwo\nthree\n", kept: 0, rejected: 1 });
  const result = await bench.run(patch, { path: "a.txt", old_string: "two", new_string: "TWO" });
  expect(result).toEqual({
    ok: false,
    rejected: true,
    text: "patch: the user reviewed and rejected the change; nothing was written to a.txt.",
  });
});

test("everything accepted reads like any edit", async () => {
  const bench = reviewedBench({ text: BOTH.content, kept: 2, rejected: 0 });
  const { ok, text } = await bench.run(writeFile, BOTH);
  expect(ok).toBe(true);
  expect(text).toContain("Changed a.txt; the user accepted all 2 changes.");
});

test("a new file that was rejected is not known to the model", async () => {
  const bench = reviewedBench({ text: null, kept: 0, rejected: 1 });
  const { ok } = await bench.run(writeFile, { path: "new.txt", content: "hello\n" });
  expect(ok).toBe(false);
  expect(bench.context.files.recall(join(bench.context.cwd, "new.txt"))).toBeUndefined();
});
