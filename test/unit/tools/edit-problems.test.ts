import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FileProblems, HostProblems, Problem } from "../../../agent-core/host/host.ts";
import { WatchedEdits } from "../../../agent-core/tools/edit-problems.ts";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import type { StagedCall, ToolContext, ToolResult } from "../../../agent-core/tools/tool.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";
import { toolBench } from "../../support/tool-context.ts";

/** Runs a staged call to the end of its check, and gives the result that its card shows then. */
async function checkedEdit(staged: Staged, context: ToolContext, edits = new WatchedEdits()): Promise<ToolResult> {
  let late: ToolResult | undefined;
  const result = await edits.run(staged, context, (later) => {
    late = later;
  });
  await edits.settled(60_000, context.signal);
  return late ?? result;
}

async function write(context: ToolContext, path: string, content: string): Promise<ToolResult> {
  const preparation = writeFile.prepare({ path, content }, context.cwd);
  if (!preparation.ok) throw new Error(preparation.text);
  const staged = await preparation.call.stage(context);
  if (!staged.ok) throw new Error(staged.text);
  return checkedEdit(staged, context);
}

/** Moves a file, with one change of it. */
async function move(context: ToolContext, from: string, to: string, change: readonly string[]): Promise<ToolResult> {
  const text = ["*** Begin Patch", `*** Update File: ${from}`, `*** Move to: ${to}`, ...change, "*** End Patch"];
  const preparation = patch.prepare({ mode: "patch", patch: text.join("\n") }, context.cwd);
  if (!preparation.ok) throw new Error(preparation.text);
  const staged = await preparation.call.stage(context);
  if (!staged.ok) throw new Error(staged.text);
  return checkedEdit(staged, context);
}

type Staged = Extract<StagedCall, { ok: true }>;

const told = ({ problems = [] }: ToolResult): readonly string[] => problems.map(({ text }) => text);

/** An editor that finds these problems in a file once it is written. */
function finding(name: string, before: readonly Problem[], after: readonly Problem[]): HostProblems {
  return {
    watch: () =>
      Promise.resolve({
        settled: (edits) => Promise.resolve([{ path: join(edits[0]?.path ?? "", "..", name), before, after }]),
      }),
  };
}

const error = (line: number, message: string): Problem => ({ line, column: 2, severity: "error", message });

describe("an edit that is watched", () => {
  it("says nothing more when nothing is broken", async () => {
    const { context } = toolBench();
    const result = await write(context, "a.ts", "const a = 1;\n");
    expect(result.problems).toBeUndefined();
    expect(result.text).not.toContain("problem");
  });

  it("tells the model what it broke, behind its diff", async () => {
    const { context } = toolBench();
    const result = await write(context, "src/a.ts", "const a = 1;\nf(a;\n");
    expect(result.ok).toBe(true);
    expect(told(result)).toEqual(['src/a.ts:2:4 error: ")" is missing (syntax)']);
    expect(result.problems?.[0]).toMatchObject({ path: join(context.cwd, "src/a.ts"), line: 2, severity: "error" });
    expect(result.text).toMatch(/\+f\(a;\nNew problems since this edit:\nsrc\/a\.ts:2:4 error: "\)" is missing/);
  });

  it("leaves out what was broken before", async () => {
    const { context, folder } = toolBench();
    writeFileSync(join(folder, "a.ts"), "f(a;\n");
    expect((await write(context, "a.ts", "const a = 1;\nf(a;\n")).problems).toBeUndefined();
  });

  it("leaves out what a moved file had where it stood, and names what is new in it", async () => {
    const { context, folder } = toolBench();
    writeFileSync(join(folder, "a.ts"), "f(a;\nconst b = 1;\n");
    const top = await move(context, "a.ts", "deeper/b.ts", ["@@", "+// top", " f(a;"]);
    expect(top.ok).toBe(true);
    expect(top.problems).toBeUndefined();
    const more = await move(context, "deeper/b.ts", "c.ts", ["@@", " const b = 1;", "+const c = (;"]);
    expect(told(more)).toHaveLength(1);
    expect(more.problems?.[0]).toMatchObject({ path: join(context.cwd, "c.ts"), line: 4 });
  });

  it("takes an editor's word on the old path for the new one", async () => {
    const { context, folder } = toolBench();
    writeFileSync(join(folder, "a.txt"), "one\ntwo\n");
    const [from, to] = [join(context.cwd, "a.txt"), join(context.cwd, "b.txt")];
    const problems: HostProblems = {
      watch: () =>
        Promise.resolve({
          settled: () =>
            Promise.resolve([
              { path: from, before: [error(2, "old")], after: [] },
              { path: to, before: [], after: [error(3, "old"), error(1, "new")] },
            ]),
        }),
    };
    const moved = await move({ ...context, host: { ...context.host, problems } }, "a.txt", "b.txt", [
      "@@",
      "+zero",
      " one",
    ]);
    expect(told(moved)).toEqual(["b.txt:1:2 error: new"]);
  });

  it("names errors before warnings, and the edited file before others", async () => {
    const { context } = toolBench();
    const warning: Problem = { ...error(1, "unused"), severity: "warning", source: "eslint", code: "no-unused" };
    const problems: HostProblems = {
      watch: () =>
        Promise.resolve({
          settled: ([edit]) =>
            Promise.resolve([
              { path: join(context.cwd, "other.txt"), before: [], after: [error(7, "no such name")] },
              { path: edit?.path ?? "", before: [], after: [warning, error(3, "bad\n  word")] },
            ]),
        }),
    };
    const result = await write({ ...context, host: { ...context.host, problems } }, "a.txt", "x\n");
    expect(told(result)).toEqual([
      "a.txt:3:2 error: bad word",
      "other.txt:7:2 error: no such name",
      "a.txt:1:2 warning: unused (eslint no-unused)",
    ]);
  });

  it("counts what it does not name, and cuts long messages", async () => {
    const { context } = toolBench();
    const many = Array.from({ length: 25 }, (_, index) => error(index + 1, `${"long ".repeat(200)}${index}`));
    const host = { ...context.host, problems: finding("a.txt", [], many) };
    const result = await write({ ...context, host }, "a.txt", "x\n");
    expect(told(result)).toHaveLength(20);
    expect(result.text).toMatch(/\n\[… 5 more\]$/);
    expect(Math.max(...told(result).map(({ length }) => length))).toBeLessThan(340);
  });

  it("does not wait for problems of an edit that was refused", async () => {
    const { context, folder } = toolBench();
    const staged = writeFile.prepare({ path: "a.txt", content: "new\n" }, folder);
    const call = staged.ok ? await staged.call.stage(context) : undefined;
    writeFileSync(join(folder, "a.txt"), "somebody else's\n");
    const host = {
      ...context.host,
      problems: { watch: () => Promise.resolve({ settled: () => Promise.reject(new Error("was asked")) }) },
    };
    if (call?.ok !== true) throw new Error("was not staged");
    expect((await checkedEdit(call, { ...context, host })).ok).toBe(false);
  });

  it("stands when the look for problems fails, and says that it was not checked", async () => {
    const { context } = toolBench();
    const host = {
      ...context.host,
      problems: { watch: () => Promise.resolve({ settled: () => Promise.reject(new Error("no parser")) }) },
    };
    const result = await write({ ...context, host }, "a.txt", "x\n");
    expect(result.ok).toBe(true);
    expect(result.text).toMatch(/\[could not check for problems: no parser\]$/);
  });

  it("stays written when the turn is stopped while it waits", async () => {
    const { context, folder, cancel } = toolBench();
    const problems: HostProblems = {
      watch: () =>
        Promise.resolve({
          settled: (_edits, signal) => {
            cancel.abort(new Error("stopped"));
            return Promise.reject(signal.reason);
          },
        }),
    };
    await expect(write({ ...context, host: { ...context.host, problems } }, "a.txt", "x\n")).rejects.toThrow("stopped");
    expect(existsSync(join(folder, "a.txt"))).toBe(true);
  });
});

/** Checks that end when the test says so, in any order. */
function slowChecks(): { readonly problems: HostProblems; end(edit: number, files: readonly FileProblems[]): void } {
  const checks: PromiseWithResolvers<readonly FileProblems[]>[] = [];
  return {
    problems: {
      watch: () => {
        const check = Promise.withResolvers<readonly FileProblems[]>();
        checks.push(check);
        return Promise.resolve({ waitMs: 1, settled: () => check.promise });
      },
    },
    end: (edit, files) => checks[edit]?.resolve(files),
  };
}

describe("problems that come after the result of their edit", () => {
  const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

  /** Three edits of a file: line 2 breaks, a line is added above, line 5 breaks. Returns what the model gets. */
  async function threeEdits(ends: (end: ReturnType<typeof slowChecks>["end"], path: string) => void) {
    const { context, folder } = toolBench();
    const { problems, end } = slowChecks();
    const watched = { ...context, host: { ...context.host, problems } };
    const path = join(context.cwd, "a.txt");
    writeFileSync(join(folder, "a.txt"), lines("a", "b", "c", "d"));
    const edits = new WatchedEdits();
    for (const text of [lines("a", "B", "c", "d"), lines("0", "a", "B", "c", "d"), lines("0", "a", "B", "c", "D")]) {
      const prepared = writeFile.prepare({ path: "a.txt", content: text }, context.cwd);
      const staged = prepared.ok ? await prepared.call.stage(watched) : prepared;
      if (!staged.ok) throw new Error(staged.text);
      expect((await edits.run(staged, watched, () => undefined)).problems).toBeUndefined();
    }
    ends(end, path);
    await edits.settled(60_000, context.signal);
    return edits;
  }

  it.each([
    { order: "their order", first: [0, 1, 2] },
    { order: "the opposite order", first: [2, 1, 0] },
    { order: "any order", first: [1, 2, 0] },
  ])("reach the model once and on their present lines when the checks end in $order", async ({ first }) => {
    const edits = await threeEdits((end, path) => {
      const after = [error(1, "old"), error(3, "b is bad"), error(5, "d is bad")];
      const before = [[error(1, "old")], [error(1, "old")], [error(2, "old")]];
      // The line with the old problem moved down with the second edit.
      const now = after.map((problem) => (problem.message === "old" ? { ...problem, line: 2 } : problem));
      for (const edit of first) end(edit, [{ path, before: before[edit] ?? [], after: now }]);
    });
    expect(edits.hasLateErrors).toBe(true);
    const text = edits.takeLate().join("\n");
    expect(text.match(/a\.txt:\d+:2 error: .*/g)).toEqual(["a.txt:3:2 error: b is bad", "a.txt:5:2 error: d is bad"]);
    expect(edits.takeLate()).toEqual([]);
  });

  it("are not reported when a later edit has mended them", async () => {
    const edits = await threeEdits((end, path) => {
      for (const edit of [0, 1, 2]) end(edit, [{ path, before: [], after: [] }]);
    });
    expect(edits.takeLate()).toEqual([]);
  });
});
