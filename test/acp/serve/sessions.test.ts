// Sessions of a server live above its connections.
import { expect, onTestFinished, test } from "vitest";
import { remoteStream, remoteUrl } from "../../../agent-core/protocol/remote-stream.ts";
import type { Json } from "../../support/acp-client.ts";
import type { Part } from "../../support/model-server/answer.ts";
import { call, hold, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import { rawStream, type ServedAgent, ServedClient, serveAgent, TOKEN, wireTo } from "../../support/served-agent.ts";

async function served(
  options: Parameters<typeof serveAgent>[0] = {},
): Promise<{ agent: ServedAgent; model: ModelServer }> {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  const environment = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" };
  const agent = await serveAgent({ environment, ...options });
  onTestFinished(() => agent.stop());
  return { agent, model };
}

const text = (words: string): Part => ({ type: "text", text: words });

async function connected(
  port: number,
  options: ConstructorParameters<typeof ServedClient>[1] = {},
): Promise<ServedClient> {
  const client = new ServedClient(port, options);
  onTestFinished(() => client.stop());
  await client.initialize({ session: { notices: {} } });
  return client;
}

function numberOf({ _meta }: Json): number {
  return (_meta as { hermes: { seq: number } }).hermes.seq;
}

test.each(["ws", "http"] as const)(
  "A turn goes on without its connection over %s, and the client gets the rest and the result when it is back",
  async (scheme) => {
    const { agent, model } = await served();
    const wire = await wireTo(agent.port);
    onTestFinished(() => wire.stop());
    const client = await connected(wire.port, { scheme });
    const id = await client.newSession();
    const gate = hold();
    model.script({ parts: [text("one "), gate.part, text("two")] });
    const turn = client.prompt(id, "count");
    await gate.reached;
    wire.cut();
    await client.reached("lost");
    gate.release();
    expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
    expect(client.text()).toBe("one two");
    expect(client.states).toEqual(["lost", "connected"]);
  },
);

test("Requests of the agent wait for a lost client, and are refused in words after the grace", async () => {
  const { agent, model } = await served({ graceMs: 300 });
  const wire = await wireTo(agent.port);
  onTestFinished(() => wire.stop());
  const client = await connected(wire.port);
  const id = await client.newSession();
  await client.request("session/set_mode", { sessionId: id, modeId: "ask" });
  const asked = Promise.withResolvers<void>();
  client.on("session/request_permission", () => {
    asked.resolve();
    return new Promise(() => undefined);
  });
  model.script({ parts: [call("terminal", { command: "touch made" })] }, say("It was refused."));
  void client.prompt(id, "make it");
  await asked.promise;
  await client.stop();
  await model.nextRequest();
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("no client has been connected for");
  const other = await connected(agent.port);
  await other.request("session/load", { sessionId: id, cwd: client.cwd, mcpServers: [] });
  expect(other.text()).toContain("It was refused.");
});

test("A second client takes a session over in the middle of its turn, and the first one is notified", async () => {
  const { agent, model } = await served();
  const [first, second] = [await connected(agent.port), await connected(agent.port)];
  const id = await first.newSession();
  model.script(say("An earlier answer."));
  await first.prompt(id, "earlier");
  const gate = hold();
  model.script({ parts: [text("one "), gate.part, text("two")] });
  const turn = first.prompt(id, "count");
  await gate.reached;
  const busy = await second.prompt(id, "mine");
  expect(busy.error?.message).toContain("Another connection holds this session");
  await second.request("session/load", { sessionId: id, cwd: first.cwd, mcpServers: [] });
  const said = (kind: string) => second.of(kind).map(({ content }) => (content as { text: string }).text);
  expect(said("user_message_chunk")).toEqual(["earlier", "count"]);
  expect(said("agent_message_chunk").join("")).toBe("An earlier answer.one ");
  expect(first.of("notice").at(-1)).toMatchObject({ title: expect.stringContaining("has taken this session over") });
  gate.release();
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
  expect((await first.prompt(id, "again")).error?.message).toContain("Another connection holds this session");
  model.script(say("three"));
  expect((await second.prompt(id, "more")).result).toMatchObject({ stopReason: "end_turn" });
  expect(said("agent_message_chunk").join("")).toBe("An earlier answer.one twothree");
  expect(first.text()).not.toContain("three");
});

test("Each notification of a session has a number, and a resume gets exactly those after its own", async () => {
  const { agent, model } = await served();
  const client = await connected(agent.port, { stream: rawStream(agent.port) });
  const id = await client.newSession();
  model.script(say("one two three"));
  await client.prompt(id, "count");
  const numbers = client.notified("session/update").map(numberOf);
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  await client.stop();
  const after = numbers[2] ?? 0;
  const place = { sessionId: id, cwd: client.cwd, mcpServers: [] };
  const back = await connected(agent.port, { stream: rawStream(agent.port) });
  const { result } = await back.request("session/resume", { ...place, _meta: { hermes: { after } } });
  expect(result).toMatchObject({ _meta: { hermes: { isComplete: true } } });
  const rest = back.notified("session/update").map(numberOf);
  // The title of the session may come after the answer.
  expect(rest).toEqual(rest.map((_, index) => after + 1 + index));
  expect(rest).toEqual(expect.arrayContaining(numbers.slice(3)));
  const unknown = await back.request("session/resume", { ...place, _meta: { hermes: { after: 7 } } });
  expect(unknown.result).toMatchObject({ _meta: { hermes: { isComplete: false } } });
});

test("A request that is repeated runs once", async () => {
  const { agent, model } = await served();
  const client = await connected(agent.port, { stream: rawStream(agent.port) });
  const once = { cwd: client.cwd, mcpServers: [], _meta: { hermes: { requestId: "new-1" } } };
  const [first, again] = [await client.request("session/new", once), await client.request("session/new", once)];
  expect(again.result?.["sessionId"]).toBe(first.result?.["sessionId"]);
  const sessionId = String(first.result?.["sessionId"]);
  const prompt = { sessionId, prompt: [{ type: "text", text: "hi" }], _meta: { hermes: { requestId: "prompt-1" } } };
  model.script(say("hello"));
  const before = model.requests.length;
  expect((await client.request("session/prompt", prompt)).result).toMatchObject({ stopReason: "end_turn" });
  expect((await client.request("session/prompt", prompt)).result).toMatchObject({ stopReason: "end_turn" });
  expect(
    model.requests.slice(before).filter(({ body }) => JSON.stringify(body.messages).includes('"hi"')),
  ).toHaveLength(1);
});

test("A session without a client closes, and opens again from its journal", async () => {
  const { agent, model } = await served({ unloadMs: 100 });
  const client = await connected(agent.port);
  const id = await client.newSession();
  model.script(say("stored"));
  await client.prompt(id, "keep this");
  await client.stop();
  while (agent.hub.sessions.length > 0) await new Promise((resolve) => setImmediate(resolve));
  const other = await connected(agent.port);
  await other.request("session/load", { sessionId: id, cwd: client.cwd, mcpServers: [] });
  expect(other.text()).toBe("stored");
});

test("Clients of another kind get a session in their own form", async () => {
  const { agent, model } = await served();
  const client = await connected(agent.port);
  const id = await client.newSession();
  model.script(say("stored"));
  await client.prompt(id, "keep this");
  const foreign = new ServedClient(agent.port);
  onTestFinished(() => foreign.stop());
  await foreign.initialize({ fs: { readTextFile: true }, terminal: true });
  await foreign.request("session/resume", { sessionId: id, cwd: client.cwd, mcpServers: [] });
  model.script({ parts: [call("terminal", { command: "echo from the server" })] }, say("done"));
  expect((await foreign.prompt(id, "run it")).result).toMatchObject({ stopReason: "end_turn" });
  expect(JSON.stringify(foreign.of("tool_call_update"))).toContain("from the server");
  expect(foreign.notifications.filter((method) => method !== "session/update")).toEqual([]);
});

test("A load that is repeated after a loss gets the whole conversation once", async () => {
  const { agent, model } = await served();
  const client = await connected(agent.port, { stream: rawStream(agent.port) });
  const id = await client.newSession();
  model.script(say("stored"));
  await client.prompt(id, "keep this");
  const load = { sessionId: id, cwd: client.cwd, mcpServers: [], _meta: { hermes: { requestId: "load-1" } } };
  const lost = await connected(agent.port, { stream: rawStream(agent.port) });
  await lost.request("session/load", load);
  await lost.stop();
  while (agent.hub.sessions[0]?.holder !== undefined) await new Promise((resolve) => setImmediate(resolve));
  const back = await connected(agent.port, { stream: rawStream(agent.port) });
  expect((await back.request("session/load", load)).error).toBeUndefined();
  expect(back.text()).toBe("stored");
  expect(back.of("user_message_chunk")).toHaveLength(1);
});

test("A stream of our own clients ends by its signal, also while a client reads and writes it", async () => {
  const { agent } = await served();
  const ending = new AbortController();
  const remote = { url: remoteUrl(`ws://127.0.0.1:${agent.port}`), token: TOKEN };
  const client = await connected(agent.port, { stream: remoteStream(remote, { signal: ending.signal }) });
  expect(agent.hub.connections).toBe(1);
  ending.abort();
  expect(await client.ended).toBeUndefined();
  await expect.poll(() => agent.hub.connections).toBe(0);
});
