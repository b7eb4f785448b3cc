import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test } from "vitest";
import { grammarChecker } from "../../agent-core/host/syntax/syntax-problems.ts";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

// A grammar that still loads lets the problems of the first edit ride on a later message.
beforeAll(async () => {
  const check = await grammarChecker("typescript");
  expect(check("f(1", "a.ts")).toHaveLength(1);
});

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

const breaking = call("patch", { path: "a.ts", old_string: "f(1)", new_string: "f(1" });
const told = 'a.ts:2:4 error: ")" is missing (syntax)';

async function start(edit = breaking): Promise<{ agent: AcpAgent; model: ModelServer }> {
  const model = await startModelServer();
  model.script(callTools(edit));
  // A first parse may take so long that the model is asked once more.
  model.respondWith(() => say("done"));
  const variables = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" };
  const agent = new AcpAgent(variables);
  running.push(agent, model);
  writeFileSync(join(agent.cwd, "a.ts"), "const a = 1;\nf(1);\n");
  return { agent, model };
}

const lastRequest = (model: ModelServer): string => JSON.stringify(model.requests.at(-1)?.body.messages);

const shown = (updates: readonly Json[]): string => JSON.stringify(updates.map(({ content }) => content));

test("an edit that breaks a file says so to the model and to the editor, also when the session is loaded again", async () => {
  const { agent, model } = await start();
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "go");
  expect(lastRequest(model)).toContain(`New problems since this edit:\\n${JSON.stringify(told).slice(1, -1)}`);
  const ended = agent.of("tool_call_update").filter(({ status }) => status === "completed");
  expect(shown(ended)).toContain("is missing (syntax)");
  await agent.request("session/close", { sessionId });
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  expect(shown(agent.of("tool_call"))).toContain("is missing (syntax)");
});

// A foreign client that speaks our extension gets the questions; what it answers is mapped through the edit.
test("problems from the client's language servers reach the model", async () => {
  const { agent, model } = await start();
  const path = join(agent.cwd, "a.ts");
  const asked: Json[] = [];
  const known = { line: 1, column: 7, severity: "warning", message: "'a' is unused", source: "ts", code: "6133" };
  agent.on("_hermes/editor/problems/watch", (params) => {
    asked.push(params);
    return {};
  });
  agent.on("_hermes/editor/problems/settled", (params) => {
    asked.push(params);
    const after = [
      known,
      { line: 2, column: 4, severity: "error", message: "')' expected.", source: "ts", code: "1005" },
    ];
    return { files: [{ path, before: [known], after }] };
  });
  await agent.initialize({ _meta: { hermes: { problems: true } } });
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "go");
  expect(asked.map(({ paths }) => paths)).toEqual([undefined, [path]]);
  expect(asked[0]?.["watchId"]).toBe(asked[1]?.["watchId"]);
  expect(lastRequest(model)).toContain("New problems since this edit:\\na.ts:2:4 error: ')' expected. (ts 1005)");
});

const bracket = { line: 2, column: 4, severity: "error", message: "')' expected.", source: "ts", code: "1005" };
const late = "[Found after the edit of a.ts] New problems since this edit:\na.ts:2:4 error: ')' expected. (ts 1005)";

/** A language server that answers when the test says so. */
async function startSlow(
  edit = breaking,
): Promise<Awaited<ReturnType<typeof start>> & { find(...found: Json[]): void; sessionId: string }> {
  const { agent, model } = await start(edit);
  const slow = Promise.withResolvers<Json>();
  agent.on("_hermes/editor/problems/watch", () => ({}));
  agent.on("_hermes/editor/problems/settled", () => slow.promise);
  await agent.initialize({ _meta: { hermes: { problems: true } } });
  const find = (...after: Json[]): void =>
    slow.resolve({ files: [{ path: join(agent.cwd, "a.ts"), before: [], after }] });
  return { agent, model, find, sessionId: await agent.newSession() };
}

test("an edit does not wait for a slow language server: the next request has its problems, and the card, too", async () => {
  const { agent, model, find, sessionId } = await startSlow();
  await agent.prompt(sessionId, "go");
  expect(lastRequest(model)).not.toContain("expected.");
  find(bracket);
  while (!shown(agent.of("tool_call_update")).includes("')' expected.")) await agent.nextUpdate();
  await agent.prompt(sessionId, "what is wrong?");
  expect(lastRequest(model)).toContain(JSON.stringify(late).slice(1, -1));
  await agent.request("session/close", { sessionId });
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  expect(shown(agent.of("tool_call"))).toContain("')' expected.");
});

test("before the turn ends, the model is asked once about errors that its edits caused; no earlier message changes", async () => {
  const { agent, model, find, sessionId } = await startSlow();
  const turn = agent.prompt(sessionId, "go");
  while (model.requests.length < 2) await model.nextRequest();
  find(bracket);
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
  const [, second = [], third = []] = model.requests.map(({ body }) => body.messages);
  expect(model.requests).toHaveLength(3);
  expect(third.slice(0, second.length)).toEqual(second);
  expect(third.slice(second.length)).toMatchObject([{ role: "assistant" }, { role: "user" }]);
  expect(String(third.at(-1)?.["content"])).toMatch(/^\[The editor found new problems/);
  expect(String(third.at(-1)?.["content"])).toContain(late);
});

test("a warning alone does not prolong the turn", async () => {
  const valid = call("patch", { path: "a.ts", old_string: "f(1)", new_string: "f(2)" });
  const { agent, model, find, sessionId } = await startSlow(valid);
  const turn = agent.prompt(sessionId, "go");
  while (model.requests.length < 2) await model.nextRequest();
  find({ ...bracket, severity: "warning" });
  await turn;
  expect(model.requests).toHaveLength(2);
});

test("a stop does not wait for the problems of edits", async () => {
  const { agent, model, sessionId } = await startSlow();
  const turn = agent.prompt(sessionId, "go");
  while (model.requests.length < 2) await model.nextRequest();
  while (agent.text() !== "done") await agent.nextUpdate();
  agent.notify("session/cancel", { sessionId });
  expect((await turn).result).toMatchObject({ stopReason: "cancelled" });
});

test("a client that refuses, or answers nonsense, does not spoil the edit", async () => {
  const { agent, model } = await start();
  agent.on("_hermes/editor/problems/watch", () => ({}));
  agent.on("_hermes/editor/problems/settled", () => ({ files: "many" }));
  await agent.initialize({ _meta: { hermes: { problems: true } } });
  const sessionId = await agent.newSession();
  expect((await agent.prompt(sessionId, "go")).result).toMatchObject({ stopReason: "end_turn" });
  await agent.prompt(sessionId, "and now?");
  expect(model.requests.map(({ body }) => JSON.stringify(body.messages)).join()).toContain(
    JSON.stringify(told).slice(1, -1),
  );
});

// The parsers are in the bundle, each loaded with its first file.
test.each([
  ["a.json", '{"a": 1}\n', '{"a": 1, "b" 2}\n', "a.json:1:14 error: colon expected (syntax)"],
  ["a.yaml", "a: 1\n", "a: b: c\n", "a.yaml:1:4 error: Nested mappings are not allowed"],
  ["a.py", "x = 1\n", "x = (1\n", "a.py:1:"],
])("%s is checked", async (name, oldText, newText, expected) => {
  const edit = call("patch", { path: name, old_string: oldText.trim(), new_string: newText.trim() });
  const { agent, model } = await start(edit);
  writeFileSync(join(agent.cwd, name), oldText);
  await agent.initialize();
  await agent.prompt(await agent.newSession(), "go");
  expect(lastRequest(model)).toContain(`New problems since this edit:\\n${expected}`);
});
