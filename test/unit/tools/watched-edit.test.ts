import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { HostProblems, Problem } from "../../../agent-core/host/host.ts";
import { tool as patch } from "../../../agent-core/tools/patch.ts";
import type { ToolContext, ToolResult } from "../../../agent-core/tools/tool.ts";
import { watchedEdit } from "../../../agent-core/tools/watched-edit.ts";
import { tool as writeFile } from "../../../agent-core/tools/write-file.ts";
import { toolBench } from "../../support/tool-context.ts";

async function write(context: ToolContext, path: string, content: string): Promise<ToolResult> {
  const preparation = writeFile.prepare({ path, content }, context.cwd);
  if (!preparation.ok) throw new Error(preparation.text);
  const staged = await preparation.call.stage(context);
  if (!staged.ok) throw new Error(staged.text);
  return watchedEdit(staged, context, () => undefined);
}

/** Moves a file, with one change of it. */
async function move(context: ToolContext, from: string, to: string, change: readonly string[]): Promise<ToolResult> {
  const text = ["*** Begin Patch", `*** Update File: ${from}`, `*** Move to: ${to}`, ...change, "*** End Patch"];
  const preparation = patch.prepare({ mode: "patch", patch: text.join("\n") }, context.cwd);
  if (!preparation.ok) throw new Error(preparation.text);
  const staged = await preparation.call.stage(context);
  if (!staged.ok) throw new Error(staged.text);
  return watchedEdit(staged, context, () => undefined);
}

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
    expect((await watchedEdit(call, { ...context, host }, () => undefined)).ok).toBe(false);
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
