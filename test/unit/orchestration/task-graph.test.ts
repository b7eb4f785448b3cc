import { expect, test } from "vitest";
import {
  type EndStatus,
  type GraphState,
  graphProblems,
  initialState,
  reduceGraph,
  startable,
  type TaskSpec,
} from "../../../agent-core/orchestration/task-graph.ts";

function task(id: string, dependsOn: readonly string[] = [], files: readonly string[] = []): TaskSpec {
  return {
    id,
    goal: `Do ${id}`,
    dependsOn,
    files,
    context: undefined,
    toolsets: undefined,
    resultSchema: undefined,
    taskType: undefined,
    timeoutSeconds: undefined,
    model: undefined,
  };
}

const ids = (tasks: readonly TaskSpec[]): readonly string[] => tasks.map(({ id }) => id);

test("the graph accepts a diamond", () => {
  expect(graphProblems([task("a"), task("b", ["a"]), task("c", ["a"]), task("d", ["b", "c"])])).toEqual([]);
});

test.each([
  ["no task", [], /no task/],
  ["a task that depends on itself", [task("a", ["a"])], /circle: a → a/],
  ["a circle", [task("a", ["c"]), task("b", ["a"]), task("c", ["b"])], /circle: a → c → b → a/],
  ["an unknown dependency", [task("a", ["x"])], /"a" depends on "x", which is not a task/],
  ["two tasks with one id", [task("a"), task("a")], /Several tasks have the id "a"/],
  ["10,000 tasks", Array.from({ length: 10_000 }, (_, index) => task(`t${index}`)), /10000 tasks; .* at most 100/],
  [
    "one file for two tasks side by side",
    [task("a", [], ["x.ts"]), task("b", [], ["x.ts"])],
    /"a" and "b" both write x\.ts/,
  ],
])("the graph refuses %s", (_, tasks, problem) => {
  expect(graphProblems(tasks).join("\n")).toMatch(problem);
});

test("the graph allows one file for tasks that run one after the other, at any distance", () => {
  const tasks = [task("a", [], ["x.ts"]), task("b", ["a"]), task("c", ["b"], ["x.ts"])];
  expect(graphProblems(tasks)).toEqual([]);
});

function after(tasks: readonly TaskSpec[], ends: Readonly<Record<string, EndStatus>>): GraphState {
  return Object.entries(ends).reduce(
    (state, [id, status]) => reduceGraph(state, { type: "ended", id, status, reason: `${id} broke.` }, tasks),
    initialState(tasks),
  );
}

test("the graph starts a task as soon as its dependencies have results", () => {
  const tasks = [task("a"), task("b"), task("c", ["a"]), task("d", ["a", "b"])];
  expect(ids(startable(initialState(tasks), tasks))).toEqual(["a", "b"]);
  expect(ids(startable(after(tasks, { a: "completed" }), tasks))).toEqual(["b", "c"]);
  expect(ids(startable(after(tasks, { a: "completed", b: "partial" }), tasks))).toEqual(["c", "d"]);
});

test.each(["failed", "timeout", "cancelled"] as const)(
  "the graph skips all dependants of a task that is %s, and no others",
  (status) => {
    const tasks = [task("a"), task("c", ["b"]), task("b", ["a"]), task("d"), task("e", ["d"])];
    const state = after(tasks, { a: status });
    expect([...state].map(([id, { status: at }]) => [id, at])).toEqual([
      ["a", status],
      ["c", "skipped"],
      ["b", "skipped"],
      ["d", "waiting"],
      ["e", "waiting"],
    ]);
    expect(state.get("b")?.reason).toMatch(/^It depends on "a", which .+: a broke\.$/);
    expect(state.get("c")?.reason).toMatch(/^It depends on "b", which was skipped: It depends on "a"/);
  },
);
