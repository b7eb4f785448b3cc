// The browser tools in any editor: a dev server asks once, the card shows the last picture, and the session ends the browser.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, say, startModelServer } from "../support/model-server/model-server.ts";
import { processesWith } from "../support/processes.ts";
import { hasBrowser } from "../support/programs.ts";

const PAGE = `<title>Shop</title><form action="/thanks"><input name=q aria-label=Product><button>Buy</button></form>`;

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

async function devServer(): Promise<{ readonly server: Server; readonly site: string }> {
  const server = createServer(({ url = "" }, response) => {
    response.setHeader("content-type", "text/html");
    response.end(url.startsWith("/thanks") ? `<title>Thanks</title><p>Bought ${url}</p>` : PAGE);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, site: `localhost:${(server.address() as AddressInfo).port}` };
}

test.runIf(hasBrowser())("a form on a dev server is sent from any editor, after one permission", async () => {
  const { server, site } = await devServer();
  const model = await startModelServer();
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-1" });
  running.push(agent, model);
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "session" } };
  });
  await agent.initialize();
  const { result } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  const sessionId = String(result?.["sessionId"]);
  model.script(
    callTools(call("browser_navigate", { url: site })),
    callTools(call("browser_type", { ref: "@e1", text: "Tea" })),
    callTools(call("browser_click", { ref: "@e2" })),
    say("bought"),
  );
  await agent.prompt(sessionId, "buy tea");

  expect(JSON.stringify(asked)).toContain(`Opens ${site}, a server of this machine`);
  expect(asked).toHaveLength(1);
  const { messages } = Object(model.requests.at(-1)?.body) as { messages: { role: string; content: string }[] };
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  expect(results[0]).toContain('- textbox "Product" @e1');
  expect(results[1]).toContain('value="Tea"');
  expect(results[2]).toContain("Bought /thanks?q=Tea");
  const card = agent.of("tool_call_update").at(-1);
  expect(card).toMatchObject({
    status: "completed",
    content: [
      { content: { type: "text", text: expect.not.stringContaining("<web-page") } },
      { content: { type: "image", mimeType: "image/jpeg" } },
    ],
  });
  const browsers = () =>
    processesWith((words) => words.some((word) => word.includes(`/hermes-browser-${process.pid}-`)));
  expect(browsers().length).toBeGreaterThan(0);
  await agent.request("session/close", { sessionId });
  expect(browsers()).toEqual([]);
  server.closeAllConnections();
  server.close();
});
