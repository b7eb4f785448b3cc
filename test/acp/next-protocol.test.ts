// Names of the protocol's unstable version, for clients that declare them.
import { McpServer } from "@modelcontextprotocol/server";
import { fromMcpServer } from "@zed-industries/agent-client-protocol/experimental/mcp-server";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

async function start(): Promise<{ readonly agent: AcpAgent; readonly model: ModelServer }> {
  const model = await startModelServer();
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" });
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  onTestFinished(async () => {
    await agent.stop();
    await model.stop();
  });
  return { agent, model };
}

test("The response to a prompt counts the tokens of its turn alone", async () => {
  const { agent, model } = await start();
  await agent.initialize();
  const id = await agent.newSession();
  const usage = { input: 100, output: 10, cached: 60, reasoning: 4 };
  model.script(
    { parts: [call("read_file", { path: "a.txt" })], usage },
    { ...text("one"), usage },
    { ...text("two"), usage },
  );
  const turn = { totalTokens: 110, inputTokens: 40, outputTokens: 10, cachedReadTokens: 60, thoughtTokens: 4 };
  const twice = Object.fromEntries(Object.entries(turn).map(([name, count]) => [name, 2 * count]));
  expect((await agent.prompt(id, "read it")).result).toEqual({ stopReason: "end_turn", usage: twice });
  expect((await agent.prompt(id, "more")).result).toEqual({ stopReason: "end_turn", usage: turn });
});

const text = (words: string) => ({ parts: [{ type: "text", text: words } as const] });

const TODOS = { todos: [{ id: "1", content: "Read a.txt", status: "in_progress" }] };

test("A client with plans by id gets them in place of the stable plan", async () => {
  const { agent, model } = await start();
  await agent.initialize({ plan: {} });
  const id = await agent.newSession();
  model.script(callTools(call("todo", TODOS)), say("done"));
  await agent.prompt(id, "plan");
  expect(agent.of("plan")).toEqual([]);
  expect(agent.of("plan_update")).toEqual([
    {
      sessionUpdate: "plan_update",
      plan: {
        type: "items",
        planId: "todo",
        entries: [{ content: "Read a.txt", priority: "medium", status: "in_progress" }],
      },
    },
  ]);
});

test("A client without plans by id gets the stable plan", async () => {
  const { agent, model } = await start();
  await agent.initialize();
  const id = await agent.newSession();
  model.script(callTools(call("todo", TODOS)), say("done"));
  await agent.prompt(id, "plan");
  expect(agent.of("plan")).toHaveLength(1);
  expect(agent.of("plan_update")).toEqual([]);
});

test("A client that knows sub-agents gets each with its state", async () => {
  const { agent, model } = await start();
  await agent.initialize({ subagents: {} });
  const id = await agent.newSession();
  const shown = async (): Promise<void> => {
    while (agent.of("subagent_update").length === 0) await agent.nextUpdate();
  };
  model.respondWith(({ messages, tools }) => {
    if (tools === undefined) return say("A title");
    const prompt = String(messages.find(({ role }) => role === "user")?.["content"]);
    if (prompt.startsWith("count"))
      return {
        parts: [
          { type: "wait", until: shown() },
          { type: "text", text: "three" },
        ],
      };
    const isBegun = messages.some(({ role }) => role === "tool");
    return isBegun ? say("done") : callTools(call("delegate_task", { tasks: [{ id: "a", goal: "count the lines" }] }));
  });
  await agent.prompt(id, "go");
  const updates = agent.of("subagent_update");
  const sessionId = updates[0]?.["sessionId"];
  expect(updates).toEqual(
    ["running", "idle"].map((state) => {
      return { sessionUpdate: "subagent_update", sessionId, title: "count the lines", state: { state } };
    }),
  );
});

test("The model calls a tool of an MCP server that the client has itself", async () => {
  const { agent, model } = await start();
  const { handler } = fromMcpServer(() => {
    const server = new McpServer({ name: "editor-tools", version: "1" });
    const inputSchema = z.object({ line: z.number() });
    server.registerTool("jump", { description: "Moves the cursor.", inputSchema }, ({ line }) => {
      return { content: [{ type: "text", text: `at line ${line}` }] };
    });
    return server;
  });
  const asked: unknown[] = [];
  agent.on("mcp/message", async (params) => {
    asked.push([params["serverId"], params["method"]]);
    const { requestId, method } = params;
    const signal = new AbortController().signal;
    const inner = params["params"] as Record<string, unknown>;
    const meta = inner["_meta"] as Json;
    return handler({
      serverId: "tools-1",
      requestId: String(requestId),
      method: String(method),
      params: inner,
      protocolVersion: String(meta["io.modelcontextprotocol/protocolVersion"]),
      clientCapabilities: meta["io.modelcontextprotocol/clientCapabilities"] as Record<string, unknown>,
      clientInfo: meta["io.modelcontextprotocol/clientInfo"],
      envelopeMeta: undefined,
      signal,
      notify: () => Promise.resolve(),
    });
  });
  const { agentCapabilities } = await agent.initialize();
  expect(agentCapabilities).toMatchObject({ mcpCapabilities: { acp: true } });
  const mcpServers = [{ type: "acp", name: "editor", serverId: "tools-1" }];
  const { result, error } = await agent.request("session/new", { cwd: agent.cwd, mcpServers });
  expect(error).toBeUndefined();
  model.script(callTools(call("mcp__editor__jump", { line: 7 })), say("done"));
  await agent.prompt(String(result?.["sessionId"]), "jump");
  expect(asked).toContainEqual(["tools-1", "tools/call"]);
  const answers = model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool");
  expect(answers?.[0]?.["content"]).toContain("at line 7");
});

test("A message of sounds alone is refused in words", async () => {
  const { agent, model } = await start();
  await agent.initialize();
  const prompt = [{ type: "audio", mimeType: "audio/wav", data: "AAAA" }];
  const reply = await agent.request("session/prompt", { sessionId: await agent.newSession(), prompt });
  expect(reply.error).toMatchObject({
    code: -32602,
    message: "prompt: Hermes cannot hear audio. Send the words as text",
  });
  expect(model.requests).toEqual([]);
});

test("A client routes the model calls by the standard's providers", async () => {
  const { agent, model } = await start();
  const other = await startModelServer();
  onTestFinished(() => other.stop());
  await agent.initialize();
  const sessionId = await agent.newSession();
  const provider = { providerId: "main", supported: ["openai", "anthropic"], required: false };
  const listed = async () => (await agent.request("providers/list", {})).result;
  expect(await listed()).toEqual({
    providers: [{ ...provider, current: { apiType: "openai", baseUrl: model.baseUrl } }],
  });
  const route = {
    providerId: "main",
    apiType: "openai",
    baseUrl: other.baseUrl,
    headers: { Authorization: "Bearer k-2" },
  };
  expect((await agent.request("providers/set", route)).result).toEqual({});
  expect(await listed()).toEqual({
    providers: [{ ...provider, current: { apiType: "openai", baseUrl: other.baseUrl } }],
  });
  other.script(say("from the other"));
  await agent.prompt(sessionId, "hi");
  expect(agent.text()).toContain("from the other");
  const refusals = [
    { ...route, providerId: "second" },
    { ...route, apiType: "vertex" },
    { ...route, headers: { "X-Route": "1" } },
  ];
  for (const refused of refusals) expect((await agent.request("providers/set", refused)).error?.code).toBe(-32602);
  expect((await agent.request("providers/disable", { providerId: "main" })).result).toEqual({});
});

test("A client hears of each sign-out", async () => {
  const { agent } = await start();
  await agent.initialize();
  await agent.request("logout", {});
  expect(agent.notified("auth/status_update")).toEqual([{ state: "unauthenticated" }]);
  await agent.request("authenticate", { methodId: "hermes-home" });
  expect(agent.notified("auth/status_update").at(-1)).toEqual({ state: "authenticated" });
});
