import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toolNamed } from "../../../agent-core/platform/names.ts";
import { parseArguments } from "../../../agent-core/tools/call-arguments.ts";
import { tool as clarify } from "../../../agent-core/tools/clarify.ts";
import { unknownToolText } from "../../../agent-core/tools/nearest-names.ts";
import { tool as searchFiles } from "../../../agent-core/tools/search-files.ts";
import { table } from "../../../agent-core/tools/table.gen.ts";
import { tool as todo } from "../../../agent-core/tools/todo.ts";
import { selectTools } from "../../../agent-core/tools/toolsets.ts";
import { toolBench } from "../../support/tool-context.ts";

test.each(table.map((tool) => [tool.name, tool] as const))("%s describes itself", (name, tool) => {
  const names = Object.keys(Object(tool.schema.parameters["properties"]));
  expect(tool.schema.name).toBe(name);
  expect(tool.schema.description.length).toBeGreaterThan(20);
  expect(tool.schema.parameters["type"]).toBe("object");
  if (names.length === 0) return;
  const refused = tool.prepare(Object.fromEntries(names.map((key) => [key, { wrong: 7 }])), "/project");
  expect(refused).toMatchObject({ ok: false, text: expect.stringContaining(`${name}: the arguments do not fit`) });
});

test("all schemas together stay small", () => {
  const everywhere = table.filter(({ toolset }) => toolset !== "editor"); // has a limit of its own
  expect(JSON.stringify(everywhere.map((tool) => tool.schema)).length).toBeLessThan(15_200);
});

test("arguments: empty is an empty object, broken is repaired, cut off is refused", () => {
  expect(parseArguments("")).toEqual({ ok: true, value: {} });
  expect(parseArguments('{"a": 1,}')).toEqual({ ok: true, value: { a: 1 } });
  expect(parseArguments("null")).toEqual({ ok: true, value: {} });
  expect(parseArguments(JSON.stringify('{"a": 1}'))).toEqual({ ok: true, value: { a: 1 } });
  expect(parseArguments('"a"')).toEqual({ ok: true, value: "a" });
  expect(parseArguments("{'a': 'b'}")).toEqual({ ok: true, value: { a: "b" } });
  expect(parseArguments('{"path": "a.t')).toMatchObject({ ok: false, text: expect.stringContaining("cut off") });
});

test("toolsets are enabled and disabled as a whole, and a wrong name is refused", () => {
  const names = (choice: Parameters<typeof selectTools>[1]): readonly string[] => {
    const chosen = selectTools(table, choice);
    if (!chosen.ok) throw new Error(chosen.message);
    return chosen.tools.map((tool) => tool.name);
  };
  expect(names({ enabled: ["file"] })).toEqual(["patch", "read_file", "write_file"]);
  expect(names({ enabled: ["safe"] })).not.toContain("write_file");
  expect(names({ disabled: ["terminal"] })).not.toContain("terminal");
  expect(selectTools(table, { enabled: ["terminall"] })).toMatchObject({
    ok: false,
    message: expect.stringContaining("Did you mean terminal"),
  });
});

test.each([
  ["functions.read_file", "read_file"],
  ["default_api:read_file", "read_file"],
  ["tools/web_search", "web_search"],
  ["ReadFile", "read_file"],
  ["searchFiles", "search_files"],
  ["write-file", "write_file"],
  ["Terminal", "terminal"],
  ["files", undefined],
  ["", undefined],
])("the name %j of a call means the tool %s", (name, tool) => {
  expect(toolNamed(name, table)?.name).toBe(tool);
});

test("a name that fits two tools means neither, and an exact one its own", () => {
  const two = ["get_user", "getUser"].flatMap((name) => table.slice(0, 1).map((tool) => ({ ...tool, name })));
  expect([toolNamed("GetUser", two), toolNamed("getUser", two)?.name]).toEqual([undefined, "getUser"]);
});

test("an unknown tool is answered with the nearest names", () => {
  expect(unknownToolText("readfile", table)).toContain("read_file");
  for (const [foreign, own] of [
    ["bash", "terminal"],
    ["execute_command", "terminal"],
    ["Grep", "search_files"],
    ["str_replace_editor", "patch"],
  ]) {
    expect(unknownToolText(foreign ?? "", table)).toBe(`There is no tool "${foreign}". Did you mean ${own}?`);
  }
});

test("todo replaces, merges and reads the plan", async () => {
  const bench = toolBench();
  const item = (id: string, status: string) => ({ id, content: `step ${id}`, status });
  await bench.run(todo, { todos: [item("1", "in_progress"), item("2", "pending")] });
  await bench.run(todo, { todos: [item("1", "completed")], merge: true });
  const { text } = await bench.run(todo, {});
  expect(JSON.parse(text)).toEqual([item("1", "completed"), item("2", "pending")]);
});

test("clarify passes on the answer, and goes on without one", async () => {
  const question = { question: "Which?", choices: ["a", "b"] };
  const answered = toolBench({ kind: "answered", text: "b" });
  expect((await answered.run(clarify, question)).text).toBe("The user answered: b");
  expect((await toolBench().run(clarify, question)).text).toContain("best judgement");
});

test("search_files finds text and names, pages, and leaves out what is ignored", async () => {
  const bench = toolBench();
  writeFileSync(join(bench.folder, ".gitignore"), "skip.txt\n");
  writeFileSync(join(bench.folder, "skip.txt"), "needle\n");
  writeFileSync(join(bench.folder, "a.txt"), "hay\nneedle one\nneedle two\n");
  expect((await bench.run(searchFiles, { pattern: "needle" })).text).toBe("a.txt:2: needle one\na.txt:3: needle two");
  const page = await bench.run(searchFiles, { pattern: "needle", limit: 1 });
  expect(page.text).toContain("[1-1 of 2; continue with offset 1]");
  expect((await bench.run(searchFiles, { pattern: "*.txt", target: "files" })).text).toBe("a.txt");
  expect((await bench.run(searchFiles, { pattern: "(" })).ok).toBe(false);
});
