import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { fail, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

// Requests of the extension about keys and model offers.
const KEY = "sk-live-key-123456";

let model: ModelServer;
let agent: AcpAgent;
beforeEach(async () => {
  model = await startModelServer();
  agent = new AcpAgent({ OPENAI_BASE_URL: model.baseUrl });
  await agent.initialize();
});
afterEach(async () => {
  await agent.stop();
  await model.stop();
});

const currentModel = (update: Json | undefined): unknown =>
  ((update?.["configOptions"] ?? []) as Json[]).find(({ id }) => id === "model")?.["currentValue"];

test("a key is tried where it will be used, and nothing is kept of it", async () => {
  model.lookUps.set("/models", { data: [{ id: "gpt-5" }, { id: "gpt-4.1" }, { id: "tts-1" }] });
  const good = await agent.request("_hermes/check_key", { provider: "openai", key: KEY });
  expect(good.result).toEqual({
    ok: true,
    message: "The key for OpenAI works: it reaches 2 models.",
    choices: ["openai:gpt-4.1", "openai:gpt-5"],
  });
  expect(model.lookedUp[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  model.lookUps.set("/models", fail(401, `Incorrect API key: ${KEY}`));
  const bad = await agent.request("_hermes/check_key", { provider: "openai", key: KEY });
  expect(bad.result).toMatchObject({ ok: false, refused: true });
  expect(JSON.stringify(bad.result)).not.toContain(KEY);
  const { result } = await agent.request("_hermes/providers", {});
  expect(result?.["providers"]).toContainEqual(expect.objectContaining({ name: "openai", hasKey: false }));
});

test("a key is tried by the shortest request when a server gives no list", async () => {
  model.lookUps.set("/models", fail(404, "no list here"));
  model.script(say("yes"));
  const { result } = await agent.request("_hermes/check_key", { provider: "openai", key: KEY });
  expect(result).toMatchObject({ ok: true, message: "The key for OpenAI works." });
  model.script(fail(401, "no"));
  const refused = await agent.request("_hermes/check_key", { provider: "openai", key: "wrong" });
  expect(refused.result).toMatchObject({ ok: false, refused: true });
});

test("a check of a key is refused for a provider without keys or without an address", async () => {
  for (const provider of ["offline", "custom", "nobody"]) {
    expect((await agent.request("_hermes/check_key", { provider, key: KEY })).error).toMatchObject({ code: -32602 });
  }
});

test("a key is stored in the home, under the variable of a provider only", async () => {
  const file = join(agent.home, ".env");
  writeFileSync(file, "# mine\nOTHER=1\n");
  const work = { base_url: model.baseUrl, key_env: "WORK_KEY" };
  writeFileSync(join(agent.home, "config.yaml"), JSON.stringify({ providers: { work } }));
  const store = (variable: string, key: string | null) => agent.request("_hermes/set_home_key", { variable, key });
  const hasKey = async (): Promise<unknown> => {
    const { result } = await agent.request("_hermes/providers", {});
    return ((result?.["providers"] ?? []) as Json[]).find(({ name }) => name === "work")?.["hasKey"];
  };
  expect(await hasKey()).toBe(false);
  await store("WORK_KEY", KEY);
  expect(readFileSync(file, "utf8")).toBe(`# mine\nOTHER=1\nWORK_KEY=${KEY}\n`);
  expect(await hasKey()).toBe(true);
  const { result } = await agent.request("_hermes/check_key", { provider: "work", key: KEY });
  expect(result).toMatchObject({ ok: true, message: "The key for work works: it reaches 1 model." });
  await store("WORK_KEY", null);
  expect(readFileSync(file, "utf8")).toBe("# mine\nOTHER=1\n");
  expect((await store("PATH", "/tmp")).error).toMatchObject({ code: -32602 });
});

test("an endpoint is stored in the home for all clients, unless the home has another model", async () => {
  const file = join(agent.home, "config.yaml");
  const store = (name: string) =>
    agent.request("_hermes/set_home_model", { provider: "custom", model: name, baseUrl: model.baseUrl });
  writeFileSync(file, "# mine\ndisplay:\n  spinner: plain\n");
  await agent.request("_hermes/set_home_key", { variable: "HERMES_API_KEY", key: KEY });
  await store("first");
  await store("second");
  expect(readFileSync(file, "utf8")).toBe(
    `# mine\ndisplay:\n  spinner: plain\nmodel:\n  provider: custom\n  default: second\n  base_url: ${model.baseUrl}\n`,
  );
  writeFileSync(file, "model: {provider: openai, default: gpt-5}\n");
  await store("third");
  expect(readFileSync(file, "utf8")).toBe("model: {provider: openai, default: gpt-5}\n");
  writeFileSync(file, "");
  writeFileSync(join(agent.home, ".env"), "");
});

test("an open session uses a key that is added to the environment, and loses it when it is removed", async () => {
  await agent.stop();
  agent = new AcpAgent({});
  await agent.initialize();
  const sessionId = await agent.newSession();
  const { result } = await agent.request("_hermes/providers", {});
  expect(result).toMatchObject({ unset: true, offers: [] });
  await agent.request("_hermes/set_environment", {
    variables: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.baseUrl },
  });
  expect(currentModel(agent.of("config_option_update").at(-1))).toBe("openai:gpt-4.1");
  model.script(say("hello"));
  await agent.prompt(sessionId, "hi");
  expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  await agent.request("_hermes/set_environment", { variables: { OPENAI_API_KEY: null, OPENAI_BASE_URL: null } });
  expect(currentModel(agent.of("config_option_update").at(-1))).toBe("offline");
});

test("a key that is taken away is not used any more, even by a session that chose its model", async () => {
  model.lookUps.set("/models", { data: [{ id: "gpt-4.1" }] });
  await agent.request("_hermes/set_environment", { variables: { OPENAI_API_KEY: KEY } });
  const sessionId = await agent.newSession();
  await agent.request("session/set_config_option", { sessionId, configId: "model", value: "offline" });
  await agent.request("session/set_config_option", { sessionId, configId: "model", value: "openai:gpt-4.1" });
  await agent.request("_hermes/set_environment", { variables: { OPENAI_API_KEY: null, OPENAI_BASE_URL: null } });
  expect(currentModel(agent.of("config_option_update").at(-1))).toBe("offline");
  await agent.prompt(sessionId, "hi");
  expect(model.requests).toHaveLength(0);
});

test("every model there is, however many, for a list that can be searched", async () => {
  const ids = Array.from({ length: 400 }, (_, index) => `m-${index}`);
  model.lookUps.set("/models", { data: ids.map((id) => ({ id })) });
  await agent.request("_hermes/set_environment", { variables: { OPENAI_API_KEY: KEY } });
  await agent.newSession();
  const count = async (): Promise<number> => {
    const { result } = await agent.request("_hermes/models", {});
    const [first] = (result?.["groups"] ?? []) as { choices: unknown[] }[];
    return first?.choices.length ?? 0;
  };
  // The configured model is not among them, and stays in the list.
  await expect.poll(count).toBe(401);
});
