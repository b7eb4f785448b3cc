// Sessions of a server live above its connections.
import { expect, onTestFinished, test } from "vitest";
import type { Part } from "../../support/model-server/answer.ts";
import { call, hold, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import { type ServedAgent, ServedClient, serveAgent, wireTo } from "../../support/served-agent.ts";

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

test.each(["ws", "http"] as const)("A prompt over %s is answered as over stdio", async (scheme) => {
  const { agent, model } = await served();
  model.script({ parts: [call("read_file", { path: "a.txt" })] }, say("It has three lines."));
  const client = await connected(agent.port, { scheme });
  const id = await client.newSession();
  expect((await client.prompt(id, "How long is a.txt?")).result).toEqual({ stopReason: "end_turn" });
  expect(client.text()).toBe("It has three lines.");
  expect(client.of("tool_call_update").at(-1)).toMatchObject({ status: "completed" });
});

test("A turn goes on without its connection, and the client gets the rest and the result when it is back", async () => {
  const { agent, model } = await served();
  const wire = await wireTo(agent.port);
  onTestFinished(() => wire.stop());
  const client = await connected(wire.port);
  const id = await client.newSession();
  const gate = hold();
  model.script({ parts: [text("one "), gate.part, text("two")] });
  const turn = client.prompt(id, "count");
  await gate.reached;
  wire.cut();
  await client.reached("lost");
  gate.release();
  expect((await turn).result).toEqual({ stopReason: "end_turn" });
  expect(client.text()).toBe("one two");
  expect(client.states).toEqual(["lost", "connected"]);
});
