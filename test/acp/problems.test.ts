import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

const breaking = call("patch", { path: "a.ts", old_string: "f(1)", new_string: "f(1" });
const told = 'a.ts:2:4 error: ")" is missing (syntax)';

async function start(edit = breaking): Promise<{ agent: AcpAgent; model: ModelServer }> {
  const model = await startModelServer();
  model.script(callTools(edit), say("done"));
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
  const result = model.requests.at(-1)?.body.messages.findLast(({ role }) => role === "tool")?.["content"];
  expect(String(result)).toContain(`New problems since this edit:\n${told}`);
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

test("an edit does not wait for a slow language server: the next request has its problems, and the card, too", async () => {
  const { agent, model } = await start();
  const path = join(agent.cwd, "a.ts");
  const slow = Promise.withResolvers<Json>();
  agent.on("_hermes/editor/problems/watch", () => ({}));
  agent.on("_hermes/editor/problems/settled", () => slow.promise);
  await agent.initialize({ _meta: { hermes: { problems: true } } });
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "go");
  expect(lastRequest(model)).not.toContain("expected.");
  const after = [{ line: 2, column: 4, severity: "error", message: "')' expected.", source: "ts", code: "1005" }];
  slow.resolve({ files: [{ path, before: [], after }] });
  while (!shown(agent.of("tool_call_update")).includes("')' expected.")) await agent.nextUpdate();
  model.script(say("I see"));
  await agent.prompt(sessionId, "what is wrong?");
  const late = "[Found after the edit of a.ts] New problems since this edit:\\na.ts:2:4 error: ')' expected. (ts 1005)";
  expect(lastRequest(model)).toContain(late);
  await agent.request("session/close", { sessionId });
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  expect(shown(agent.of("tool_call"))).toContain("')' expected.");
});

test("a client that refuses, or answers nonsense, does not spoil the edit", async () => {
  const { agent, model } = await start();
  agent.on("_hermes/editor/problems/watch", () => ({}));
  agent.on("_hermes/editor/problems/settled", () => ({ files: "many" }));
  await agent.initialize({ _meta: { hermes: { problems: true } } });
  const sessionId = await agent.newSession();
  expect((await agent.prompt(sessionId, "go")).result).toEqual({ stopReason: "end_turn" });
  model.script(say("again"));
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
  const result = model.requests.at(-1)?.body.messages.findLast(({ role }) => role === "tool")?.["content"];
  expect(String(result)).toContain(`New problems since this edit:\n${expected}`);
});
