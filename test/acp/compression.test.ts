import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import type { Answer } from "../support/model-server/answer.ts";
import { call, fail, hold, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

const isSummary = (body: Json): boolean => JSON.stringify(body).includes("You sum up a part of a conversation");

function answered(body: Json): Answer {
  if (isSummary(body)) return say("## Goal\nThe summary.");
  const input = Math.round(JSON.stringify(body).length / 4);
  return { ...say("long words ".repeat(200)), usage: { input, output: 500 } } as Answer;
}

async function start(capabilities: Json = {}): Promise<{ agent: AcpAgent; model: ModelServer }> {
  const model = await startModelServer();
  model.lookUps.set("/models", { data: [{ id: "test-model", context_length: 12_000 }] });
  model.respondWith((body) => answered(body as unknown as Json));
  const agent = new AcpAgent({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "test-model",
    HERMES_API_KEY: "sk-12345678",
  });
  running.push(agent, model);
  await agent.initialize(capabilities);
  return { agent, model };
}

const compressions = (agent: AcpAgent): Json[] =>
  agent
    .of("session_info_update")
    .map(
      ({ _meta }) => ((_meta as Json | undefined)?.["hermes"] as Json | undefined)?.["compression"] as Json | undefined,
    )
    .filter((compression) => compression !== undefined);

async function untilCompressed(agent: AcpAgent, id: string): Promise<void> {
  for (let turn = 0; compressions(agent).length === 0 && turn < 40; turn++) {
    expect((await agent.prompt(id, `Question ${turn}`)).result).toMatchObject({ stopReason: "end_turn" });
  }
}

/** Updates of the context window: tokens in use, and the level. */
const pressures = (agent: AcpAgent): { used: number; level: unknown }[] =>
  agent.of("usage_update").map(({ used, _meta }) => ({
    used: Number(used),
    level: ((_meta as Json)["hermes"] as Json)["contextPressure"],
  }));

test("a turn reports a filling window, and later that there is room again", async () => {
  const { agent, model } = await start();
  const id = await agent.newSession();
  for (const name of ["b", "c", "d", "e", "f", "g", "h", "i"]) {
    writeFileSync(join(agent.cwd, `${name}.txt`), `${name} and what is in it\n`.repeat(170));
  }
  // The window is known once the server has listed its models.
  await expect
    .poll(async () => {
      await agent.prompt(id, "Hello.");
      return agent.of("usage_update").at(-1)?.["size"];
    })
    .toBe(12_000);
  const before = pressures(agent).length;
  let reads = 0;
  model.respondWith((body) => {
    const json = body as unknown as Json;
    if (isSummary(json) || reads === 8) return answered(json);
    const usage = { input: Math.round(JSON.stringify(body).length / 4), output: 20 };
    return { parts: [call("read_file", { path: `${"bcdefghi"[reads++]}.txt` })], usage };
  });
  await agent.prompt(id, "Read them all.");
  const told = pressures(agent).slice(before);
  const levels = told.map(({ level }) => level);
  expect(levels[0]).toBe("low");
  expect(levels).toContain("high");
  const high = levels.indexOf("high");
  const lower = told.findIndex(({ level }, index) => index > high && level === "low");
  expect(told[lower]?.used).toBeLessThan(told[high]?.used ?? 0);
});

test("a conversation that fills the window is compressed, and a load still replays all messages", async () => {
  const { agent, model } = await start();
  const id = await agent.newSession();
  await untilCompressed(agent, id);
  const [compression] = compressions(agent);
  expect(compression).toMatchObject({ summary: "## Goal\nThe summary.", first: { position: 2 } });
  expect(JSON.stringify(agent.updates)).toContain(`Compressed ${compression?.["messages"]} messages`);
  const sent = JSON.stringify(
    model.requests.findLast(({ body }) => !isSummary(body as unknown as Json))?.body.messages,
  );
  expect(sent).toContain("[COMPRESSED:");
  expect(sent).toContain("Question 0");
  expect(sent).not.toContain('"Question 1"');
  const journal = readFileSync(join(agent.home, "vscode", "sessions", `${id}.jsonl`), "utf8");
  expect(journal).toContain('"type":"compression"');

  const before = agent.updates.length;
  await agent.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  const replayed = agent.updates.slice(before);
  const asked = replayed.filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
  expect(asked.map(({ content }) => (content as Json)["text"])).toContain("Question 1");
  expect(compressions(agent).at(-1)).toMatchObject({ messages: compression?.["messages"] });
  await agent.prompt(id, "one more");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("[COMPRESSED:");
});

test("a client gets the contents of the window and the usage by model, also after a load", async () => {
  const { agent } = await start();
  writeFileSync(join(agent.cwd, "AGENTS.md"), "Write tests first. ".repeat(50));
  const id = await agent.newSession();
  const contents = async () => (await agent.request("_hermes/session/context", { sessionId: id })).result as Json;
  await agent.prompt(id, "Question");
  const first = await contents();
  const parts = first["parts"] as { part: string; tokens: number }[];
  const tokens = Object.fromEntries(parts.map(({ part, tokens }) => [part, tokens]));
  expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(first["used"]);
  expect(first).toMatchObject({ used: pressures(agent).at(-1)?.used, canCompress: false });
  expect(first["window"]).toBeGreaterThan(Number(first["used"]));
  for (const part of ["system-prompt", "instructions", "tools", "user", "answers"]) {
    expect(tokens[part], part).toBeGreaterThan(0);
  }
  const [model] = first["models"] as Json[];
  expect(model).toMatchObject({ model: expect.stringContaining("test-model") });
  expect(model?.["outputTokens"]).toBeGreaterThanOrEqual(500);
  for (let turn = 0; turn < 3; turn++) await agent.prompt(id, `Question ${turn}`);
  const later = await contents();
  expect(later["canCompress"]).toBe(true);
  await agent.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  expect((await contents())["models"]).toEqual(later["models"]);
  expect(await agent.request("_hermes/session/context", { sessionId: "none" })).toMatchObject({
    error: { code: expect.any(Number) },
  });
});

test("/compress compresses at once, with a focus", async () => {
  const { agent, model } = await start({ session: { compaction: {} } });
  const id = await agent.newSession();
  await expect.poll(() => model.lookedUp.length).toBeGreaterThan(0); // the model's window is known from now on
  await agent.prompt(id, "/compress");
  expect(agent.text()).toContain("Nothing to compress");
  for (const question of ["one", "two", "three", "four"]) await agent.prompt(id, question);
  await agent.prompt(id, "/compress the colour blue");
  expect(agent.text()).toMatch(/Compressed \d+ messages into a summary/);
  const asked = model.requests.find(({ body }) => isSummary(body as unknown as Json));
  expect(JSON.stringify(asked?.body)).toContain("the colour blue");
  const summary = [{ type: "text", text: "## Goal\nThe summary." }];
  expect(agent.of("compaction_update")).toMatchObject([{ status: "completed", summary }]);
});

test("during a compression /stop ends it and changes nothing, and /steer and /queue wait for their turn", async () => {
  const { agent, model } = await start();
  const id = await agent.newSession();
  await expect.poll(() => model.lookedUp.length).toBeGreaterThan(0); // the model's window is known from now on
  for (const question of ["one", "two", "three", "four"]) await agent.prompt(id, question);
  const summary = hold();
  model.respondWith((body) =>
    isSummary(body as unknown as Json) ? { parts: [summary.part] } : answered(body as unknown as Json),
  );
  const stopped = agent.prompt(id, "/compress");
  await summary.reached;
  expect((await agent.prompt(id, "/stop")).result).toMatchObject({ stopReason: "end_turn" });
  expect((await stopped).result).toMatchObject({ stopReason: "cancelled" });
  expect(compressions(agent)).toEqual([]);

  const again = hold();
  model.respondWith((body) =>
    isSummary(body as unknown as Json)
      ? { parts: [again.part, { type: "text", text: "## Goal\nThe summary." }] }
      : answered(body as unknown as Json),
  );
  const compressed = agent.prompt(id, "/compress");
  await again.reached;
  const later = [agent.prompt(id, "/steer five"), agent.prompt(id, "/queue six")];
  again.release();
  for (const { result } of await Promise.all([compressed, ...later]))
    expect(result).toMatchObject({ stopReason: "end_turn" });
  expect(compressions(agent)).toHaveLength(1);
  const last = JSON.stringify(model.requests.at(-1)?.body);
  expect([last.includes("five"), last.includes("six"), last.includes("The summary.")]).toEqual([true, true, true]);
});

test("/compress that finds nothing more to do, twice, is no reason to give compressing up", async () => {
  const { agent, model } = await start();
  const id = await agent.newSession();
  await expect.poll(() => model.lookedUp.length).toBeGreaterThan(0); // the model's window is known from now on
  for (const question of ["one", "two", "three", "four"]) await agent.prompt(id, question);
  for (const _ of ["once", "twice", "three times"]) await agent.prompt(id, "/compress");
  expect(JSON.stringify(agent.updates)).not.toContain("cannot be compressed further");
  const asked = compressions(agent).length;
  for (let turn = 0; turn < 12; turn++) await agent.prompt(id, `Question ${turn}`);
  expect(compressions(agent).length).toBeGreaterThan(asked);
});

test("a request that the provider refuses as too long is compressed and asked once more", async () => {
  const { agent, model } = await start();
  const id = await agent.newSession();
  for (const question of ["one", "two", "three"]) await agent.prompt(id, question);
  model.script(fail(400, "maximum context length is 4096 tokens"));
  expect((await agent.prompt(id, "four")).result).toMatchObject({ stopReason: "end_turn" });
  expect(compressions(agent)).toHaveLength(1);
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("[COMPRESSED:");
});
