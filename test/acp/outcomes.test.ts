import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";

let agent: AcpAgent;
afterEach(() => agent.stop());

/** An editor that answers permission requests with `optionIds` one after the other. */
async function startEditor(...optionIds: readonly string[]): Promise<string> {
  agent = new AcpAgent();
  const answers = optionIds.values();
  agent.on("session/request_permission", () => ({
    outcome: { outcome: "selected", optionId: answers.next().value ?? "once" },
  }));
  await agent.initialize();
  writeFileSync(join(agent.cwd, "package.json"), JSON.stringify({ scripts: { hello: "echo hello" } }));
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "ask" });
  return sessionId;
}

function entriesOf(sessionId: string, type: string): readonly Json[] {
  const journal = readFileSync(join(agent.home, "vscode", "sessions", `${sessionId}.jsonl`), "utf8");
  const entries: Json[] = journal
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return entries.filter((entry) => entry["type"] === type);
}

test("a session that the user began says so", async () => {
  const sessionId = await startEditor();
  await agent.prompt(sessionId, "hello");
  expect(entriesOf(sessionId, "session")).toMatchObject([{ id: sessionId, origin: "user" }]);
});

test("answers to permission requests are kept: from the user, and from a grant", async () => {
  const sessionId = await startEditor("reject", "session");
  for (let turn = 0; turn < 3; turn += 1) await agent.prompt(sessionId, "run npm run hello --silent");
  const base = { tool: "terminal", request: "permission" };
  expect(entriesOf(sessionId, "answer")).toMatchObject([
    { ...base, outcome: "rejected", by: "user" },
    { ...base, outcome: "session", by: "user" },
    { ...base, outcome: "allowed", by: "grant" },
  ]);
  const calls = entriesOf(sessionId, "tool").map((entry) => entry["callId"]);
  expect(entriesOf(sessionId, "answer").map((entry) => entry["callId"])).toEqual(calls);
});

test("a rejected call is marked as such, live and when the session is loaded again", async () => {
  const sessionId = await startEditor("reject");
  await agent.prompt(sessionId, "run npm run hello --silent");
  const marked = { status: "failed", _meta: { hermes: { rejected: true } } };
  expect(agent.of("tool_call_update").at(-1)).toMatchObject(marked);
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  expect(agent.of("tool_call").at(-1)).toMatchObject(marked);
});

test("a question that no editor can show is kept as unanswered", async () => {
  const sessionId = await startEditor();
  await agent.prompt(sessionId, "ask me which colour");
  expect(entriesOf(sessionId, "answer")).toMatchObject([
    { tool: "clarify", request: "question", outcome: "unavailable", by: "nobody" },
  ]);
});

test("the user's decision on an edit is kept with the call that made it", async () => {
  const sessionId = await startEditor("once", "once");
  const path = join(agent.cwd, "a.txt");
  writeFileSync(path, "one\ntwo\n");
  await agent.prompt(sessionId, "replace two with TWO in a.txt");
  agent.notify("_hermes/file_reviewed", { path, outcome: "undone", lines: 2 });
  agent.notify("_hermes/file_reviewed", { path: join(agent.cwd, "other.txt"), outcome: "kept", lines: 1 });
  agent.notify("_hermes/file_reviewed", { path, outcome: "liked", lines: 1 });
  await expect.poll(() => entriesOf(sessionId, "verdict")).toMatchObject([{ path, outcome: "undone", lines: 2 }]);
  const [edit] = entriesOf(sessionId, "tool");
  expect(entriesOf(sessionId, "verdict")[0]?.["callId"]).toBe(edit?.["callId"]);
});

test("a replay says what the user decided about each edit of a file, through redo, later edits and another window", async () => {
  const sessionId = await startEditor("once", "once", "once", "once");
  const path = join(agent.cwd, "a.txt");
  writeFileSync(path, "one\ntwo\n");
  const settle = async (...outcomes: readonly string[]) => {
    const count = entriesOf(sessionId, "review").length + outcomes.length;
    for (const outcome of outcomes) agent.notify("_hermes/file_settled", { path, outcome });
    await expect.poll(() => entriesOf(sessionId, "review")).toHaveLength(count);
  };
  const edit = (from: string, to: string) => agent.prompt(sessionId, `replace ${from} with ${to} in a.txt`);
  const decisions = async () => {
    await agent.request("session/close", { sessionId });
    const before = agent.of("tool_call").length;
    await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
    const calls = agent.of("tool_call").slice(before);
    return calls.map(({ _meta: meta }) => (meta as { hermes: Json }).hermes["decisions"] as Json | undefined);
  };
  agent.notify("_hermes/file_settled", { path, outcome: "undone" }); // not the agent's file yet
  await edit("two", "TWO");
  await settle("undone");
  expect(await decisions()).toEqual([{ [path]: "undone" }]);
  await settle("redone");
  expect(await decisions()).toEqual([{}]);
  await settle("undone");
  await edit("one", "ONE");
  await settle("undone", "redone", "kept", "undone");
  expect(await decisions()).toEqual([{ [path]: "discarded" }, { [path]: "kept" }]);
});

test("decisions that only the file shows are found after a restart, too, and those that were reported do not count twice", async () => {
  const sessionId = await startEditor("once", "once", "once");
  const path = join(agent.cwd, "a.txt");
  const restarted = async () => {
    await agent.request("session/close", { sessionId });
    await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
    await agent.prompt(sessionId, "hello");
  };
  writeFileSync(path, "one\ntwo\n");
  await agent.prompt(sessionId, "replace two with TWO in a.txt");
  writeFileSync(path, "one\ntwo\n");
  await restarted();
  expect(entriesOf(sessionId, "verdict")).toMatchObject([{ path, outcome: "undone", lines: 2 }]);
  await restarted();
  await agent.prompt(sessionId, "replace one with ONE in a.txt");
  agent.notify("_hermes/file_reviewed", { path, outcome: "kept", lines: 2 });
  await expect.poll(() => entriesOf(sessionId, "verdict")).toHaveLength(2);
  await restarted();
  expect(entriesOf(sessionId, "verdict")).toHaveLength(2);
});

test("in an editor that reports no decisions, the file itself tells them at the next turn, once for each hunk", async () => {
  const sessionId = await startEditor("once", "once");
  const path = join(agent.cwd, "a.txt");
  writeFileSync(path, "one\ntwo\n");
  await agent.prompt(sessionId, "replace two with TWO in a.txt");
  writeFileSync(path, "one\ntwo\n");
  await agent.prompt(sessionId, "hello");
  await agent.prompt(sessionId, "hello");
  const [edit] = entriesOf(sessionId, "tool");
  const verdict = { path, outcome: "undone", lines: 2, callId: edit?.["callId"] };
  expect(entriesOf(sessionId, "verdict")).toMatchObject([verdict]);
  expect(entriesOf(sessionId, "verdict")).toHaveLength(1);
});
