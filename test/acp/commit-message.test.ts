import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import { fail, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

const DIFF = "diff --git a/menu.ts b/menu.ts\n@@ -1 +1,2 @@\n open();\n+close();\n";

async function start(config?: string) {
  const model = await startModelServer();
  const agent = new AcpAgent({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-test-key-123456",
  });
  running.push(agent, model);
  if (config !== undefined) writeFileSync(join(agent.home, "config.yaml"), config);
  await agent.initialize();
  return { agent, model };
}

test("the command writes a commit message in the style of earlier ones, and stores no session", async () => {
  const { agent, model } = await start();
  model.script(say("```\nClose the menu\n```"));
  const { result } = await agent.request("_hermes/commit_message", {
    diff: DIFF,
    recent: ["Open the menu", "Add a menu"],
    branch: "menu",
    model: "custom:other-model",
  });
  expect(result).toEqual({ message: "Close the menu" });
  const [request] = model.requests;
  expect(request?.body["model"]).toBe("other-model");
  expect(request?.body["tools"]).toBeUndefined();
  expect(JSON.stringify(request?.body.messages)).toContain("Open the menu\\n---\\nAdd a menu");
  expect((await agent.request("session/list", {})).result?.["sessions"]).toEqual([]);
});

test("the command asks the model of auxiliary.commit_message, if there is one", async () => {
  const { agent, model } = await start("auxiliary: { commit_message: { model: small-model } }");
  model.script(say("Close the menu"));
  await agent.request("_hermes/commit_message", { diff: DIFF, recent: [] });
  expect(model.requests[0]?.body["model"]).toBe("small-model");
});

test("the command reports a model that fails or says nothing, and ends at a cancel", async () => {
  const { agent, model } = await start();
  model.script(fail(401, "wrong key"), say("```\n```"), { silent: true });
  const failed = await agent.request("_hermes/commit_message", { diff: DIFF, recent: [] });
  expect(failed.error).toMatchObject({ code: -32000, message: expect.stringContaining("was refused (401)") });
  const empty = await agent.request("_hermes/commit_message", { diff: DIFF, recent: [] });
  expect(empty.error?.message).toBe("The model answered without a commit message.");
  const cancelled = await agent.requestAndNotify("_hermes/commit_message", { diff: DIFF, recent: [] });
  expect(cancelled.error?.code).toBe(-32800);
});

test("the command refuses without a model", async () => {
  const agent = new AcpAgent();
  running.push(agent);
  await agent.initialize();
  const { error } = await agent.request("_hermes/commit_message", { diff: DIFF, recent: [] });
  expect(error?.message).toContain("no model that can write a commit message");
});
