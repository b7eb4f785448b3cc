// The memory tool: an entry replaces only the one that the model names, and notes about one project stay there.
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { Memory, memorySnapshot } from "../../../agent-core/memory/memory.ts";
import { tool } from "../../../agent-core/tools/memory.ts";
import type { ToolContext } from "../../../agent-core/tools/tool.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "hermes-memory-"));
});

const memoryOf = (project: string): Memory => new Memory({ folder }).forProject(`/project/${project}`);

async function call(project: string, input: object): Promise<string> {
  const context = { memory: memoryOf(project), cwd: `/project/${project}`, sessionId: "s", callId: "c" } as ToolContext;
  const prepared = tool.prepare(input, context.cwd, {
    folder: context.cwd,
    process: () => undefined,
    page: undefined,
  } as never);
  if (!prepared.ok) throw new Error(prepared.text);
  const staged = await prepared.call.stage(context);
  const result = staged.ok ? await staged.run() : staged;
  return result.text;
}

const add = (content: string, more: object = {}) => ({ action: "add", content, ...more });

test.each([
  ["Never edit files under `vendor/`.", "Never edit files under `generated/`."],
  ["Run `npm test` before a commit.", "Run `npm run lint` before a commit."],
  ["The `auth` module is owned by the security team.", "The `billing` module is owned by the security team."],
  ["The importer's tests run with `zq7 --lane 4`.", "The importer's tests run with `zq7 --lane 5`."],
  ["Use pnpm, not npm.", "Use yarn, not pnpm."],
  ["Answer in German.", "Answer in English."],
  ["Never edit files under vendor/.", "Never edit files under generated/."],
  ["Die Prüfung der Migrationen macht Anna.", "Die Prüfung der Migrationen macht Ben."],
  ["不要修改 `vendor/` 目录。", "不要修改 `generated/` 目录。"],
  ["Nunca edites los archivos de `vendor/`.", "Nunca edites los archivos de `generated/`."],
  ["`vendor/` のファイルは編集しない。", "`generated/` のファイルは編集しない。"],
])("%j and %j are both kept, and an undo brings back exactly the first", async (first, second) => {
  await call("alpha", add(first));
  expect(await call("alpha", add(second))).toMatch(/^Saved\. 2 entries, \d+\/2200 characters\.$/);
  const memory = memoryOf("alpha");
  expect(await memory.read("memory")).toEqual([first, second]);
  await memory.undo((await memory.writes()).slice(-1));
  expect(await memory.read("memory")).toEqual([first]);
});

test("other notes about the same thing stay", async () => {
  await call("alpha", add("The importer's tests run with `zq7 --lane 4`."));
  await call("alpha", add("The importer's lint runs with `lint-9`."));
  await call("alpha", add("Prefers tabs", { target: "user" }));
  expect(await memoryOf("alpha").read("memory")).toHaveLength(2);
});

test("a note that names the project, or is said to be its own, is in its prompt only", async () => {
  await call("alpha", add("Releases of alpha are tagged `v4`."));
  await call("alpha", add("The queue is `q9`.", { scope: "project" }));
  await call("alpha", add("Node 24 is installed."));
  const options = { isBad: () => undefined, onDefect: () => undefined };
  expect(await memorySnapshot(memoryOf("alpha"), options)).toMatchObject({
    memory: expect.stringContaining("Node 24"),
    project: expect.stringContaining("Releases of alpha are tagged `v4`.\n§\nThe queue is `q9`."),
  });
  const beta = await memorySnapshot(memoryOf("beta"), options);
  expect(beta.project).toBeUndefined();
  expect(beta.memory).not.toContain("q9");
  expect(existsSync(join(folder, "MEMORY.md"))).toBe(true);
});

test("the tool corrects and removes a project's note without its scope, and undoes it from another project", async () => {
  await call("alpha", add("The queue is `q9`.", { scope: "project" }));
  await call("alpha", { action: "replace", old_text: "q9", content: "The queue is `q10`." });
  expect(await memoryOf("alpha").read("project")).toEqual(["The queue is `q10`."]);
  const beta = memoryOf("beta");
  await beta.undo((await beta.writes()).slice(-1));
  expect(await memoryOf("alpha").read("project")).toEqual(["The queue is `q9`."]);
  expect(await call("alpha", { action: "remove", old_text: "q9" })).toContain("Forgotten for this project.");
  expect(await memoryOf("alpha").read("project")).toEqual([]);
});
