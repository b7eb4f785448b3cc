import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

async function start(patch: readonly string[]): Promise<{ agent: AcpAgent; model: ModelServer }> {
  const model = await startModelServer();
  model.script(callTools(call("patch", { mode: "patch", patch: patch.join("\n") })), say("done"));
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" });
  running.push(agent, model);
  await agent.initialize();
  writeFileSync(join(agent.cwd, "b.txt"), "bee\n");
  writeFileSync(join(agent.cwd, "c.txt"), "sea\n");
  return { agent, model };
}

const file = (agent: AcpAgent, name: string): string => readFileSync(join(agent.cwd, name), "utf8");
const toolResult = (model: ModelServer): string =>
  String(model.requests.at(-1)?.body.messages.findLast(({ role }) => role === "tool")?.["content"]);

test.each([
  ["Cline", { path: "a.txt", diff: "------- SEARCH\ntwo\n=======\nTWO\n+++++++ REPLACE" }],
  ["Roo", { path: "a.txt", diff: "<<<<<<< SEARCH\n:start_line:2\n-------\ntwo\n=======\nTWO\n>>>>>>> REPLACE\n" }],
  ["Aider", { patch: "a.txt\n```\n<<<<<<< SEARCH\ntwo\n=======\nTWO\n>>>>>>> REPLACE\n```" }],
  [
    "git",
    { patch: "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n" },
  ],
  ["Codex", { input: "*** Begin Patch\n*** Update File: a.txt\n-two\n+TWO\n*** End Patch" }],
  ["another verb", { patch: "*** Modify file: a.txt\n-two\n+TWO" }],
  ["a whole call", { name: "patch", arguments: { patch: "*** Update File: a.txt\n-two\n+TWO" } }],
])("a patch in the form of %s is made, and its hook sees the file", async (_, input) => {
  const { agent, model } = await start([]);
  const hooks = { pre_tool_call: [{ matcher: "patch", command: "cat > seen.json" }] };
  writeFileSync(join(agent.home, "config.yaml"), JSON.stringify({ hooks, hooks_auto_accept: true }));
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "go");
  model.script(callTools(call("patch", input)), say("done"));
  await agent.prompt(sessionId, "go");
  expect(file(agent, "a.txt"), toolResult(model)).toBe("one\nTWO\nthree\n");
  expect(JSON.parse(file(agent, "seen.json")).tool_input.patch).toMatch(/^\*\*\* Update File: a\.txt$/m);
});

test("a patch of several files is announced with its diffs, and done", async () => {
  const { agent, model } = await start([
    ...["*** Begin Patch", "*** Add File: new/d.txt", "+dee"],
    ...["*** Update File: a.txt", "@@ one", "-two", "+TWO"],
    ...["*** Update File: b.txt", "*** Move to: moved/b.txt", "-bee", "+BEE"],
    ...["*** Delete File: c.txt", "*** End Patch"],
  ]);
  const { result } = await agent.prompt(await agent.newSession(), "go");
  expect(result).toMatchObject({ stopReason: "end_turn" });
  expect([file(agent, "new/d.txt"), file(agent, "a.txt"), file(agent, "moved/b.txt")]).toEqual([
    "dee\n",
    "one\nTWO\nthree\n",
    "BEE\n",
  ]);
  expect([existsSync(join(agent.cwd, "b.txt")), existsSync(join(agent.cwd, "c.txt"))]).toEqual([false, false]);
  const announced = agent.of("tool_call_update").find(({ status }) => status === "in_progress");
  const diffs = ((announced?.["content"] ?? []) as Json[]).map(({ type, path }) => [
    type,
    String(path).slice(agent.cwd.length),
  ]);
  expect(diffs).toEqual([
    ["diff", "/new/d.txt"],
    ["diff", "/a.txt"],
    ["diff", "/b.txt"],
    ["diff", "/moved/b.txt"],
    ["diff", "/c.txt"],
  ]);
  expect(toolResult(model)).toContain("Deleted c.txt.");
});

test("a patch with an impossible part changes nothing, and the model gets the reason", async () => {
  const { agent, model } = await start([
    ...["*** Begin Patch", "*** Delete File: c.txt"],
    ...["*** Update File: a.txt", "-twoo", "+TWO", "*** End Patch"],
  ]);
  await agent.prompt(await agent.newSession(), "go");
  expect([file(agent, "a.txt"), file(agent, "c.txt")]).toEqual(["one\ntwo\nthree\n", "sea\n"]);
  expect(toolResult(model)).toContain("a.txt: its hunk: its lines are not in the file.");
  expect(toolResult(model)).toContain("Nothing was changed.");
});

test("a new file and a deletion mean the path as it is written, and an edit what its text shows", async () => {
  const { agent, model } = await start([
    ...["*** Begin Patch", "*** Add File: @c.txt", "+new"],
    ...["*** Update File: @b.txt", "-bee", "+BEE", "*** End Patch"],
  ]);
  const [write, remove] = [
    { path: "a/b.txt", content: "other\n" },
    "*** Begin Patch\n*** Delete File: C. TXT\n*** End Patch",
  ];
  model.script(callTools(call("write_file", write), call("patch", { mode: "patch", patch: remove })), say("done"));
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "go");
  await agent.prompt(sessionId, "go on");
  expect(["b.txt", "c.txt", "@c.txt", "a/b.txt"].map((name) => file(agent, name))).toEqual([
    "BEE\n",
    "sea\n",
    "new\n",
    "other\n",
  ]);
  expect(toolResult(model)).toContain("C. TXT: it does not exist.");
});

test("text that the editor has and the disk has not is not removed", async () => {
  const { agent, model } = await start(["*** Begin Patch", "*** Delete File: a.txt", "*** End Patch"]);
  const unsaved = { content: "one\nunsaved\n" };
  let reads = 0;
  agent.on("fs/read_text_file", () => (reads++ === 0 ? { content: "one\ntwo\nthree\n" } : unsaved));
  await agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  await agent.prompt(await agent.newSession(), "go");
  expect(file(agent, "a.txt")).toBe("one\ntwo\nthree\n");
  expect(toolResult(model)).toContain("has changed since it was read");
});

/** An editor of another maker with `a.txt` open: the user types in it at the moments that the test chooses. */
async function startInEditor(
  calls: readonly (readonly [string, Json])[],
  text: string,
): Promise<{ agent: AcpAgent; model: ModelServer; editor: { text: string; written: string[] } }> {
  const model = await startModelServer();
  for (const [name, input] of calls) model.script(callTools(call(name, input)));
  model.script(say("done"));
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" });
  running.push(agent, model);
  const editor = { text, written: [] as string[] };
  agent.on("fs/read_text_file", () => ({ content: editor.text }));
  agent.on("fs/write_text_file", ({ content }) => {
    editor.text = String(content);
    editor.written.push(editor.text);
    return {};
  });
  await agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } },
  });
  return { agent, model, editor };
}

const READ = ["read_file", { path: "a.txt" }] as const;
const EDIT = ["patch", { path: "a.txt", old_string: "two", new_string: "TWO" }] as const;

test("an exact, unique edit is applied to the text that the user has changed since", async () => {
  const { agent, model, editor } = await startInEditor([READ, EDIT], "one\ntwo\nthree\n");
  agent.on("fs/read_text_file", () => {
    const { text } = editor;
    if (editor.written.length === 0) editor.text = "typed\none\ntwo\nthree\n";
    return { content: text };
  });
  await agent.prompt(await agent.newSession(), "go");
  expect(editor.text).toBe("typed\none\nTWO\nthree\n");
  expect(toolResult(model)).toContain(
    "The file had changed since it was read: your edit was applied to its current text",
  );
  expect(toolResult(model)).toContain("+typed");
});

test("text that the user types at any moment of an edit is kept", async () => {
  const { agent, model, editor } = await startInEditor([READ, EDIT], "one\ntwo\nthree\n");
  let reads = 0;
  agent.on("fs/read_text_file", () => {
    const { text } = editor;
    reads += 1;
    // The user types after each of the first reads: before the diff is worked out, and before it is written.
    if (reads <= 3) editor.text = `typed ${reads}\n${text}`;
    return { content: text };
  });
  await agent.prompt(await agent.newSession(), "go");
  expect(editor.text).toBe("typed 3\ntyped 2\ntyped 1\none\nTWO\nthree\n");
  expect(toolResult(model)).toContain("your edit was applied to its current text");
});

test("a whole text never overwrites later typing of the user", async () => {
  const whole = ["write_file", { path: "a.txt", content: "all new\n" }] as const;
  const { agent, model, editor } = await startInEditor([READ, whole], "one\ntwo\n");
  agent.on("fs/read_text_file", () => {
    const { text } = editor;
    editor.text = "one\ntyped\ntwo\n";
    return { content: text };
  });
  await agent.prompt(await agent.newSession(), "go");
  expect([editor.text, editor.written]).toEqual(["one\ntyped\ntwo\n", []]);
  expect(toolResult(model)).toContain("has changed since you read it; nothing was written");
});
