import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import { call, callTools, say, startModelServer } from "../support/model-server/model-server.ts";

const IMAGE = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" };

test("an image and a command longer than its title are whole where a session is shown again and exported", async () => {
  const command = `echo ${"every word of it ".repeat(12)}end`;
  const model = await startModelServer();
  model.script(callTools(call("terminal", { command })), say("done"));
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-12345678" });
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "like this" }, IMAGE] });
  await agent.prompt(sessionId, "/export md out.md");
  const before = agent.updates.length;
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  const replayed = agent.updates.slice(before).find(({ sessionUpdate }) => sessionUpdate === "tool_call");
  expect(replayed).toMatchObject({ status: "completed", rawInput: { command } });
  const markdown = readFileSync(join(agent.cwd, "out.md"), "utf8");
  expect(markdown).toContain(`\`\`\`sh\n${command}\n\`\`\``);
  expect(markdown).toContain("![an image](data:image/png;base64,iVBORw0KGgo=)");
  await agent.stop();
  await model.stop();
});
