import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

async function start(capabilities: Json): Promise<{ agent: AcpAgent; model: ModelServer; sessionId: string }> {
  const model = await startModelServer();
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" });
  onTestFinished(async () => {
    await agent.stop();
    await model.stop();
  });
  await agent.initialize({ _meta: { hermes: capabilities } });
  return { agent, model, sessionId: await agent.newSession() };
}

const results = (model: ModelServer): string[] =>
  (model.requests.at(-1)?.body.messages ?? [])
    .filter(({ role }) => role === "tool")
    .map((message) => String(message["content"]));

const offered = (model: ModelServer): string => JSON.stringify(model.requests[0]?.body["tools"]);

test("an editor without language services offers no tools for them", async () => {
  const { agent, model, sessionId } = await start({});
  model.script(say("hello"));
  await agent.prompt(sessionId, "hi");
  expect(offered(model)).not.toContain("editor_");
});

test("a rename is judged for every file that it changes, and writes all of them", async () => {
  const { agent, model, sessionId } = await start({ semanticTools: true });
  const path = join(agent.cwd, "a.txt");
  const settings = join(agent.cwd, ".vscode", "settings.json");
  const edits = [{ path, before: "one\ntwo\nthree\n", after: "ONE\ntwo\nthree\n" }];
  const asked: Json[] = [];
  agent.on("_hermes/editor/rename", (params) => {
    asked.push(params);
    return { edits };
  });
  agent.on("_hermes/editor/places", () => Promise.reject({ code: -32603, message: "a.txt declares x twice." }));
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "reject_once" } };
  });
  const rename = call("editor_rename", { path: "a.txt", symbol: "one", new_name: "ONE" });
  const lookup = call("editor_lookup", { path: "a.txt", symbol: "x", what: "definitions" });
  model.script(callTools(rename), callTools(lookup), say("done"));
  await agent.prompt(sessionId, "rename it");
  expect(offered(model)).toContain("editor_symbols, lookup");
  expect(asked).toEqual([{ path, symbol: "one", newName: "ONE" }]);
  expect(readFileSync(path, "utf8")).toBe("ONE\ntwo\nthree\n");
  expect(results(model)[0]).toContain("Changes in 1 file:\nChanged a.txt.");
  expect(results(model)[1]).toBe("Error: editor_lookup: a.txt declares x twice.");
  // The second rename reaches a protected file: it asks, and nothing is written.
  edits.splice(0, 1, { path, before: "ONE\ntwo\nthree\n", after: "1\ntwo\nthree\n" });
  edits.push({ path: settings, before: "{}\n", after: "{ }\n" });
  mkdirSync(join(settings, ".."));
  writeFileSync(settings, "{}\n");
  model.script(callTools(rename), say("stopped"));
  await agent.prompt(sessionId, "again");
  expect(JSON.stringify(asked.at(-1))).toContain("settings.json");
  expect(results(model).at(-1)).toContain("the user said no");
  expect(readFileSync(path, "utf8")).toBe("ONE\ntwo\nthree\n");
});
