import { expect, test } from "vitest";
import { resultText, TaskRecord, type TaskResult } from "../../../agent-core/orchestration/task-result.ts";
import type { NewEntry } from "../../../agent-core/sessions/journal.ts";

function edit(callId: string, path: string, oldText: string | null, newText: string | null): NewEntry {
  return {
    type: "tool",
    callId,
    name: "patch",
    title: "Edit",
    kind: "edit",
    locations: [],
    ok: true,
    durationMs: 1,
    diffs: [{ path, oldText, newText }],
  };
}

function factsOf(...entries: readonly NewEntry[]) {
  const record = new TaskRecord("/project");
  for (const entry of entries) record.add(entry);
  return record.facts;
}

const LINES = "a\nb\nc\nd\ne\n";

test("the result names the changed files with their hunks, relative to the working folder", () => {
  const { files } = factsOf(
    edit("1", "/project/src/a.ts", LINES, "A\nb\nc\nd\nE\n"),
    edit("2", "/project/new.ts", null, "x\n"),
    edit("3", "/elsewhere/b.ts", "x\n", "y\n"),
  );
  expect(files).toEqual([
    { path: "src/a.ts", hunks: 2 },
    { path: "new.ts", hunks: 1 },
    { path: "/elsewhere/b.ts", hunks: 1 },
  ]);
});

test("the result counts an edit once that is recorded again with its problems", () => {
  const twice = edit("1", "/project/a.ts", LINES, "A\nb\nc\nd\ne\n");
  expect(factsOf(twice, twice).files).toEqual([{ path: "a.ts", hunks: 1 }]);
});

test("the result leaves out edits that were refused", () => {
  const refused: NewEntry = { ...edit("1", "/project/a.ts", "x", "y"), ok: false } as NewEntry;
  expect(factsOf(refused).files).toEqual([]);
});

test("the result names files that only a command changed", () => {
  const change: NewEntry = {
    type: "file-change",
    path: "/project/out.txt",
    by: "command",
    source: "1",
    before: null,
    position: 1,
    after: { hash: "0", mode: 0o644 },
  };
  expect(factsOf(change).files).toEqual([{ path: "out.txt", hunks: 0 }]);
});

test("the result marks a file that a command of another task may have changed, unless the task is known to have changed it", () => {
  const change = (path: string, others?: readonly string[]): NewEntry => ({
    type: "file-change",
    path,
    by: "command",
    source: "1/a",
    before: null,
    position: 1,
    after: { hash: "0", mode: 0o644 },
    ...(others && { others: [...others] }),
  });
  const entries = [change("/project/out.txt", ["1/b"]), change("/project/a.ts", ["1/b"]), change("/project/b.ts")];
  const edits = [edit("1", "/project/a.ts", "x", "y"), change("/project/b.ts", ["1/b"])];
  expect(factsOf(...entries, ...edits).files).toEqual([
    { path: "out.txt", hunks: 0, shared: true },
    { path: "a.ts", hunks: 1 },
    { path: "b.ts", hunks: 0 },
  ]);
});

test("the result lists commands with their exit codes, answers, tokens and the last words", () => {
  const facts = factsOf(
    { type: "message", message: { role: "assistant", content: "First." } },
    {
      type: "tool",
      callId: "1",
      name: "terminal",
      title: "make",
      kind: "execute",
      locations: [],
      diffs: [],
      ok: false,
      durationMs: 1,
      command: { text: "make", exit: 2 },
    },
    { type: "message", message: { role: "assistant", content: null } },
    { type: "usage", model: "m", inputTokens: 10, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 },
    { type: "usage", model: "m", inputTokens: 5, outputTokens: 1, cachedInputTokens: 0, reasoningTokens: 0 },
  );
  expect(facts).toEqual({
    files: [],
    commands: [{ command: "make", exit: 2 }],
    iterations: 2,
    usage: { inputTokens: 15, outputTokens: 3 },
    answer: "First.",
  });
});

const RESULT: TaskResult = {
  id: "a",
  status: "completed",
  summary: "Done.",
  files: [],
  commands: [],
  iterations: 1,
  duration: 1,
  usage: { inputTokens: 1, outputTokens: 1 },
};

test("a short result is the whole JSON", () => {
  expect(resultText([RESULT])).toEqual({ text: JSON.stringify([RESULT]), whole: undefined });
});

test("a long result stays JSON, and the whole is given for a file", () => {
  const many = Array.from({ length: 60 }, (_, index) => ({ ...RESULT, id: `t${index}`, summary: "word ".repeat(200) }));
  const { text, whole } = resultText(many);
  expect(whole).toBe(JSON.stringify(many));
  expect(text.length).toBeLessThan(24_000);
  expect(JSON.parse(text)).toHaveLength(60);
});
