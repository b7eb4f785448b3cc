import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { HostEditor } from "../../../agent-core/host/host.ts";
import { editorMethods } from "../../../agent-core/protocol/editor.ts";
import { tools } from "../../../agent-core/tools/editor.ts";
import type { ToolContext, ToolResult } from "../../../agent-core/tools/tool.ts";
import { selectTools } from "../../../agent-core/tools/toolsets.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

type Asked = { readonly method: string; readonly params: unknown };

/** Tools over an editor that gives these answers, by method; an Error is a refusal. */
function editorBench(answers: Readonly<Record<string, unknown>>, further: Partial<ToolContext> = {}) {
  const bench = toolBench();
  const asked: Asked[] = [];
  const editor: HostEditor = async ({ name, result }, params) => {
    asked.push({ method: name, params });
    const answer = answers[name];
    if (answer instanceof Error) throw answer;
    return result.parse(answer) as never;
  };
  Object.assign(bench.context, { host: { ...bench.context.host, editor }, ...further });
  const use = (name: string, input: unknown): Promise<ToolResult> => bench.run(toolNamed(name), input);
  return { ...bench, asked, use };
}

function toolNamed(name: string) {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

const fileOf = ({ folder }: Pick<Bench, "folder">, name: string): string => join(folder, name);

test("all schemas together stay under 3 kB", () => {
  const size = JSON.stringify(tools.map(({ schema }) => schema)).length;
  expect(size).toBeLessThan(3_000);
});

test("the toolset is called editor, and coding contains it", () => {
  expect(new Set(tools.map(({ toolset }) => toolset))).toEqual(new Set(["editor"]));
  expect(selectTools(tools, { enabled: ["coding"] })).toMatchObject({ ok: true, tools });
});

test("places are lines of path:line: text, relative to the working folder", async () => {
  const bench = editorBench({});
  const places = [
    { path: fileOf(bench, "src/a.ts"), line: 3, text: "export function total() {" },
    { path: "/usr/lib/b.d.ts", line: 9, text: "total();" },
    { path: "jdt://contents/C.class", line: 1, text: "" },
  ];
  const { use, asked } = editorBench({ [editorMethods.places.name]: { places } }, { cwd: bench.folder });
  const result = await use("editor_lookup", { what: "references", symbol: "total", path: "src/a.ts", line: 3 });
  expect(result.text).toBe(
    "src/a.ts:3: export function total() {\n/usr/lib/b.d.ts:9: total();\njdt://contents/C.class:1: ",
  );
  expect(asked[0]?.params).toMatchObject({ relation: "references", symbol: "total", line: 3 });
});

test("a long list ends with the number of the others", async () => {
  const places = Array.from({ length: 130 }, (_, index) => ({ path: "/p/a.ts", line: index + 1, text: "x" }));
  const { use } = editorBench({ [editorMethods.places.name]: { places } });
  const { text } = await use("editor_lookup", { what: "references", symbol: "x", path: "a.ts" });
  expect(text.split("\n")).toHaveLength(101);
  expect(text).toMatch(/\[… 30 more\]$/);
});

test("lines of files with keys are left out", async () => {
  const places = [{ path: "/p/.env", line: 1, text: "KEY=abc" }];
  const { use } = editorBench({ [editorMethods.places.name]: { places } });
  expect((await use("editor_lookup", { what: "definitions", symbol: "KEY", path: "a.ts" })).text).toBe("/p/.env:1:");
});

test("the editor's refusal is the result", async () => {
  const { use } = editorBench({ [editorMethods.places.name]: new Error("a.ts does not contain x.") });
  const result = await use("editor_lookup", { what: "definitions", symbol: "x", path: "a.ts" });
  expect(result).toEqual({ ok: false, text: "editor_lookup: a.ts does not contain x." });
});

test("problems are listed with the titles of their quick fixes", async () => {
  const bench = editorBench({});
  const path = fileOf(bench, "a.ts");
  const diagnostics = [
    { path, line: 2, severity: "error", message: "Cannot find\n name 'x'. (ts 2304)", fixes: ["Add import"] },
  ];
  const { use } = editorBench({ [editorMethods.diagnostics.name]: { diagnostics } }, { cwd: bench.folder });
  expect((await use("editor_problems", { path: "a.ts" })).text).toBe(
    "a.ts:2: error: Cannot find name 'x'. (ts 2304)\n  fix: Add import",
  );
});

test("the state has the selection in front and the open files", async () => {
  const bench = editorBench({});
  const path = fileOf(bench, "a.ts");
  const state = { active: { path, first: 2, last: 3, selected: "b\nc" }, open: [{ path, isUnsaved: true }] };
  const { use } = editorBench({ [editorMethods.state.name]: state }, { cwd: bench.folder });
  expect((await use("editor_state", {})).text).toBe("In front: a.ts:2-3, selected:\nb\nc\nOpen:\na.ts (unsaved)");
});

test("a rename is staged as the diffs of all files, and keeps their line breaks", async () => {
  const answers: Record<string, unknown> = {};
  const bench = editorBench(answers);
  const [one, two] = [fileOf(bench, "a.ts"), fileOf(bench, "b.ts")];
  writeFileSync(one, "let a = 1;\r\nuse(a);\r\n");
  writeFileSync(two, "import { a };\n");
  answers[editorMethods.rename.name] = {
    edits: [
      { path: one, before: "let a = 1;\nuse(a);\n", after: "let b = 1;\nuse(b);\n" },
      { path: two, before: "import { a };\n", after: "import { b };\n" },
    ],
  };
  const result = await bench.use("editor_rename", { path: "a.ts", symbol: "a", new_name: "b" });
  expect(result.text).toContain("Changes in 2 files:\nChanged a.ts.");
  expect(result.diffs?.map(({ path }) => path)).toEqual([one, two]);
  expect(readFileSync(one, "utf8")).toBe("let b = 1;\r\nuse(b);\r\n");
  expect(readFileSync(two, "utf8")).toBe("import { b };\n");
});

test("a rename that was worked out for another text writes nothing", async () => {
  const answers: Record<string, unknown> = {};
  const bench = editorBench(answers);
  const path = fileOf(bench, "a.ts");
  writeFileSync(path, "typed\n");
  answers[editorMethods.rename.name] = { edits: [{ path, before: "old\n", after: "new\n" }] };
  const result = await bench.use("editor_rename", { path: "a.ts", symbol: "old", new_name: "new" });
  expect(result.text).toBe("editor_rename: a.ts has just changed; nothing was written. Call again.");
  expect(readFileSync(path, "utf8")).toBe("typed\n");
});

test("actions of a line are listed as a read, and made as an edit", async () => {
  const { use } = editorBench({ [editorMethods.actions.name]: { titles: ["Extract function"] } });
  expect((await use("editor_action", { path: "a.ts", line: 1 })).text).toBe("Extract function");
  const effects = [{}, { title: "Extract function" }].map((more) => {
    const prepared = toolNamed("editor_action").prepare({ path: "a.ts", line: 1, ...more }, "/p");
    return prepared.ok ? prepared.call.effect.kind : "refused";
  });
  expect(effects).toEqual(["read", "edit"]);
});

test("a task runs as a call of the terminal in the task's folder", async () => {
  const calls: unknown[] = [];
  const callTool: ToolContext["callTool"] = (name, input) => {
    calls.push([name, input]);
    return Promise.resolve({ ok: true, text: "ran" });
  };
  const tasks = [
    { name: "npm: test", group: "test", command: "npm run test", folder: "/p/web", isBackground: false },
    { name: "watch", group: "", command: null, folder: "/p", isBackground: true },
  ];
  const { use } = editorBench({ [editorMethods.tasks.name]: { tasks } }, { callTool, cwd: "/p" });
  expect((await use("editor_task", {})).text).toBe(
    "npm: test [test]: npm run test (in web)\nwatch [background]: run by the user only",
  );
  expect((await use("editor_task", { name: "test", timeout: 5 })).text).toBe("ran");
  expect(calls).toEqual([["terminal", { command: "npm run test", workdir: "/p/web", background: false, timeout: 5 }]]);
  expect((await use("editor_task", { name: "watch" })).text).toContain("only the user can run watch");
  expect((await use("editor_task", { name: "deploy" })).text).toContain('there is no task "deploy"');
});
