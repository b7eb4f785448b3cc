import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): unknown }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

/** Server with a page, and with a search service at `/search`. */
async function startSite(): Promise<string> {
  const server: Server = createServer(({ url = "" }, response) => {
    if (!url.startsWith("/search")) {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html><head><title>The docs</title></head><body><h2>Use</h2><p>Call it twice.</p></body></html>");
      return;
    }
    const results = [{ title: "The docs", url: `${base}/docs`, content: "Call it twice." }];
    response.end(JSON.stringify({ results }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  running.push({ stop: () => (server.closeAllConnections(), server.close()) });
  return base;
}

type Started = { readonly agent: AcpAgent; readonly model: ModelServer; readonly id: string; readonly asked: Json[] };

/** A session of an editor without capabilities of its own. */
async function start(config: string, variables: Record<string, string> = {}): Promise<Started> {
  const model = await startModelServer();
  const agent = new AcpAgent({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "m",
    HERMES_API_KEY: "sk-1",
    ...variables,
  });
  running.push(agent, model);
  writeFileSync(join(agent.home, "config.yaml"), config);
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "once" } };
  });
  await agent.initialize({ terminal: false });
  return { agent, model, id: await agent.newSession(), asked };
}

const toolNames = ({ model }: Started): readonly string[] =>
  ((model.requests.at(-1)?.body["tools"] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);

test("web_search and web_extract show links in their cards, live and in a replay, and give the model wrapped text", async () => {
  const site = await startSite();
  const it = await start("web:\n  allow_private_urls: true\n", { SEARXNG_URL: site });
  const { agent, model, id, asked } = it;
  await agent.request("session/set_mode", { sessionId: id, modeId: "code" });
  model.script(
    { parts: [call("web_search", { query: "docs" })] },
    { parts: [call("web_extract", { urls: [`${site}/docs`] })] },
    say("done"),
  );
  expect((await agent.prompt(id, "go")).result).toMatchObject({ stopReason: "end_turn" });
  expect(asked).toEqual([]);
  const results = (model.requests.at(-1)?.body.messages ?? []).filter(({ role }) => role === "tool");
  expect(results.map(({ content }) => content)).toEqual([
    `<web-results name="docs">\n1. The docs\n   ${site}/docs\n   Call it twice.\n</web-results>`,
    `<web-page name="${site}/docs">\n# The docs\n\n## Use\n\nCall it twice.\n</web-page>`,
  ]);
  const link = {
    type: "content",
    content: { type: "resource_link", name: "The docs", title: "The docs", uri: `${site}/docs` },
  };
  const cards = agent.updates.filter(({ status }) => status === "completed").map(({ content }) => content);
  expect(cards).toEqual([
    [link, expect.objectContaining({ type: "content" })],
    [link, { type: "content", content: { type: "text", text: "```\n# The docs\n\n## Use\n\nCall it twice.\n```" } }],
  ]);
});

test("without a search service web_search is not offered; private pages and untold hosts are refused or asked for", async () => {
  const site = await startSite();
  const it = await start("");
  const { agent, model, id, asked } = it;
  await agent.request("session/set_mode", { sessionId: id, modeId: "ask" });
  model.script({ parts: [call("web_extract", { urls: [`${site}/docs`] })] }, say("done"));
  await agent.prompt(id, "go");
  expect(toolNames(it)).toContain("web_extract");
  expect(toolNames(it)).not.toContain("web_search");
  expect(asked).toHaveLength(1);
  const result = (model.requests.at(-1)?.body.messages ?? []).findLast(({ role }) => role === "tool");
  expect(result?.["content"]).toContain("127.0.0.1 was refused: it is this machine");
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

test("a model that nobody knows gets the pictures of tools, and after it has refused them the words beside them", async () => {
  const { agent, model, id } = await start("", { HERMES_MODEL: "m-large" });
  writeFileSync(join(agent.cwd, "a.png"), Buffer.from(PNG, "base64"));
  const look = { parts: [call("vision_analyze", { image: "a.png", question: "Which colour?" })] };
  model.script(look, fail(400, "This model does not support image input"), say("I cannot see it."));
  expect((await agent.prompt(id, "go")).result).toMatchObject({ stopReason: "end_turn" });
  const [before, after] = model.requests.slice(-2).map(({ body }) => JSON.stringify(body.messages));
  expect([before?.includes(PNG), after?.includes(PNG)]).toEqual([true, false]);
});

test("vision_analyze shows the picture to a model that sees and to the user, in a loaded session too", async () => {
  const it = await start("", { HERMES_MODEL: "gpt-4.1" });
  const { agent, model, id } = it;
  writeFileSync(join(agent.cwd, "a.png"), Buffer.from(PNG, "base64"));
  model.script({ parts: [call("vision_analyze", { image: "a.png", question: "Which colour?" })] }, say("Blue."));
  expect((await agent.prompt(id, "go")).result).toMatchObject({ stopReason: "end_turn" });
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } };
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain(JSON.stringify(image));
  const shown = { type: "content", content: { type: "image", mimeType: "image/png", data: PNG } };
  expect(agent.of("tool_call_update").at(-1)?.["content"]).toContainEqual(shown);

  await agent.request("session/close", { sessionId: id });
  const before = agent.updates.length;
  await agent.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  const replayed = agent.updates.slice(before).find(({ sessionUpdate }) => sessionUpdate === "tool_call");
  expect(replayed?.["content"]).toContainEqual(shown);
  model.script(say("Still blue."));
  await agent.prompt(id, "and now?");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain(JSON.stringify(image));
});
