import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, fail, hold, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const it of running.splice(0)) await it.stop();
});

function start(environment: Readonly<Record<string, string>> = {}, home?: string): AcpAgent {
  const agent = new AcpAgent(environment, home);
  running.push(agent);
  return agent;
}

async function modelServer(): Promise<ModelServer> {
  const model = await startModelServer();
  running.push(model);
  return model;
}

function reaching(model: ModelServer): Readonly<Record<string, string>> {
  return { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-test-key-123456" };
}

type Choice = { readonly value: string; readonly name: string; readonly description?: string };
type Option = { readonly id: string; readonly currentValue: string; readonly options: readonly Json[] };

function optionOf(source: Json | undefined, id: string): Option | undefined {
  return ((source?.["configOptions"] ?? []) as Option[]).find((option) => option.id === id);
}

function choicesOf(option: Option | undefined): readonly Choice[] {
  return (option?.options ?? []).flatMap((group) => (group["options"] as Choice[] | undefined) ?? [group as Choice]);
}

/** The option in the last update to the client. */
function shown(agent: AcpAgent, id: string): Option | undefined {
  return optionOf(agent.of("config_option_update").at(-1), id);
}

async function open(agent: AcpAgent): Promise<{ sessionId: string; opened: Json }> {
  const { result = {} } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  return { sessionId: String(result["sessionId"]), opened: result };
}

const choose = (agent: AcpAgent, sessionId: string, configId: string, value: string) =>
  agent.request("session/set_config_option", { sessionId, configId, value });

test("the endpoint's own list is offered, and choosing a model really switches, over a reload too", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", {
    data: [{ id: "test-model" }, { id: "gpt-5", name: "GPT 5", context_length: 400_000 }, { id: "text-embedding-3" }],
  });
  const agent = start(reaching(model));
  await agent.initialize();
  const { sessionId, opened } = await open(agent);
  expect(optionOf(opened, "model")).toMatchObject({ category: "model", currentValue: "custom:test-model" });
  expect(optionOf(opened, "reasoning_effort")).toBeUndefined();
  await expect
    .poll(() => choicesOf(shown(agent, "model")).map(({ value }) => value))
    .toEqual(["custom:test-model", "custom:gpt-5", "offline"]);
  expect(model.lookedUp[0]?.headers.authorization).toBe("Bearer sk-test-key-123456");

  const { result } = await choose(agent, sessionId, "model", "custom:gpt-5");
  expect(optionOf(result, "model")?.currentValue).toBe("custom:gpt-5");
  expect(optionOf(result, "reasoning_effort")).toMatchObject({ category: "thought_level", currentValue: "default" });
  await choose(agent, sessionId, "reasoning_effort", "low");
  model.script(say("hello"));
  await agent.prompt(sessionId, "hi");
  expect(model.requests.at(-1)?.body).toMatchObject({ model: "gpt-5", reasoning_effort: "low" });
  await agent.stop();

  const again = start(reaching(model), agent.home);
  await again.initialize();
  const loaded = await again.request("session/load", { sessionId, cwd: again.cwd, mcpServers: [] });
  expect(optionOf(loaded.result, "model")?.currentValue).toBe("custom:gpt-5");
  expect(optionOf(loaded.result, "reasoning_effort")?.currentValue).toBe("low");
  // The list is a few seconds old: it comes from the home.
  await expect.poll(() => choicesOf(shown(again, "model"))).toHaveLength(3);
  expect(model.lookedUp).toHaveLength(1);
  model.script(say("hello again"));
  await again.prompt(sessionId, "hi");
  expect(model.requests.at(-1)?.body).toMatchObject({ model: "gpt-5", reasoning_effort: "low" });
});

test("the model that the client lets a session begin with stays with it once it is used", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", { data: [{ id: "test-model" }, { id: "other-model" }] });
  const agent = start(reaching(model));
  await agent.initialize();
  const _meta = { hermes: { model: "custom:other-model" } };
  const { result } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [], _meta });
  expect(optionOf(result, "model")?.currentValue).toBe("custom:other-model");
  const sessionId = String(result?.["sessionId"]);
  const loadAgain = () => agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  expect((await loadAgain()).error).toMatchObject({ code: -32002 });
  const again = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [], _meta });
  model.script(say("hello"));
  await agent.prompt(String(again.result?.["sessionId"]), "hi");
  const loaded = await agent.request("session/load", {
    sessionId: again.result?.["sessionId"],
    cwd: agent.cwd,
    mcpServers: [],
  });
  expect(optionOf(loaded.result, "model")?.currentValue).toBe("custom:other-model");
});

test("a model that is no longer available is reported, and the configured one answers", async () => {
  const model = await modelServer();
  const agent = start(reaching(model));
  await agent.initialize({ session: { notices: {} } });
  const _meta = { hermes: { model: "openrouter:x/y" } };
  const { result } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [], _meta });
  expect(optionOf(result, "model")?.currentValue).toBe("custom:test-model");
  await expect
    .poll(() => agent.of("notice"))
    .toMatchObject([
      {
        severity: "warning",
        title: expect.stringContaining("openrouter:x/y is not available here, so Hermes uses test-model"),
      },
    ]);
});

test("a model that does not reason is never sent an effort", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", { data: [{ id: "gpt-5" }, { id: "gpt-4.1" }] });
  const agent = start({ ...reaching(model), HERMES_MODEL: "gpt-5" });
  await agent.initialize();
  const { sessionId } = await open(agent);
  await choose(agent, sessionId, "reasoning_effort", "high");
  await choose(agent, sessionId, "model", "custom:gpt-4.1");
  expect(shown(agent, "reasoning_effort")).toBeUndefined();
  model.script(say("hello"));
  await agent.prompt(sessionId, "hi");
  expect(model.requests.at(-1)?.body["reasoning_effort"]).toBeUndefined();
});

test("the effort of config.yaml holds and is shown until another is chosen, the default too", async () => {
  const model = await modelServer();
  const agent = start({ ...reaching(model), HERMES_MODEL: "gpt-5" });
  writeFileSync(join(agent.home, "config.yaml"), "agent:\n  reasoning_effort: high\n");
  await agent.initialize();
  const { sessionId, opened } = await open(agent);
  expect(optionOf(opened, "reasoning_effort")?.currentValue).toBe("high");
  model.script(say("one"), say("two"));
  await agent.prompt(sessionId, "hi");
  await choose(agent, sessionId, "reasoning_effort", "default");
  await agent.prompt(sessionId, "again");
  expect(model.requests.map(({ body }) => body["reasoning_effort"])).toEqual(["high", undefined]);
});

test("an endpoint that config.yaml describes is offered beside the configured one, with its own key", async () => {
  const [model, other] = [await modelServer(), await modelServer()];
  other.lookUps.set("/models", { data: [{ id: "big" }] });
  const agent = start({ ...reaching(model), ACME_KEY: "sk-acme-key-123456" });
  const acme = `  acme:\n    base_url: ${other.baseUrl}\n    key_env: ACME_KEY\n`;
  writeFileSync(join(agent.home, "config.yaml"), `providers:\n${acme}`);
  await agent.initialize();
  const { sessionId } = await open(agent);
  await choose(agent, sessionId, "model", "acme:big");
  other.script(say("hello"));
  await agent.prompt(sessionId, "hi");
  expect(other.requests.at(-1)?.headers.authorization).toBe("Bearer sk-acme-key-123456");
  expect(JSON.stringify([...model.requests, ...model.lookedUp])).not.toContain("sk-acme");
});

test("an unknown model is refused by name, and nothing changes", async () => {
  const model = await modelServer();
  const agent = start(reaching(model));
  await agent.initialize();
  const { sessionId } = await open(agent);
  for (const [id, value] of [
    ["model", "custom:no-such-model"],
    ["model", "nonsense"],
    ["reasoning_effort", "low"],
  ] as const) {
    const { error } = await choose(agent, sessionId, id, value);
    expect(error).toMatchObject({ code: -32602 });
  }
  model.script(say("hello"));
  await agent.prompt(sessionId, "hi");
  expect(model.requests.at(-1)?.body["model"]).toBe("test-model");
});

test("a change in the middle of a turn holds from the next model call", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", { data: [{ id: "test-model" }, { id: "other-model" }] });
  const agent = start(reaching(model));
  await agent.initialize();
  const { sessionId } = await open(agent);
  await expect.poll(() => choicesOf(shown(agent, "model"))).toHaveLength(3);
  const held = hold();
  model.script({ parts: [held.part, call("read_file", { path: "a.txt" })] }, say("done"));
  const turn = agent.prompt(sessionId, "go");
  await held.reached;
  await choose(agent, sessionId, "model", "custom:other-model");
  held.release();
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
  expect(model.requests.map(({ body }) => body["model"])).toEqual(["test-model", "other-model"]);
});

test("/model lists the models and accepts a part of a name", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", { data: ["test-model", "big-one", "big-two"].map((id) => ({ id })) });
  const agent = start(reaching(model));
  await agent.initialize();
  const { sessionId } = await open(agent);
  await expect.poll(() => choicesOf(shown(agent, "model"))).toHaveLength(4);
  await agent.prompt(sessionId, "/model");
  expect(agent.text()).toContain("Model: `custom:test-model`");
  expect(agent.text()).toContain("`custom:big-one`, `custom:big-two`");
  await agent.prompt(sessionId, "/model big");
  expect(agent.text()).toContain("Several models match `big`");
  await agent.prompt(sessionId, "/model two");
  expect(agent.text()).toContain("Model: `custom:big-two`.");
  expect(shown(agent, "model")?.currentValue).toBe("custom:big-two");
});

test("the configured model stays in the list of an endpoint that does not name it, so that one can return to it", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", { data: [{ id: "other-model" }] });
  const agent = start(reaching(model));
  await agent.initialize();
  const { sessionId } = await open(agent);
  await expect.poll(() => choicesOf(shown(agent, "model"))).toHaveLength(3);
  await choose(agent, sessionId, "model", "custom:other-model");
  const { result } = await choose(agent, sessionId, "model", "custom:test-model");
  expect(optionOf(result, "model")?.currentValue).toBe("custom:test-model");
});

test("several hundred models stay a list one can read, with the chosen one in it", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", { data: Array.from({ length: 400 }, (_, index) => ({ id: `m-${index}` })) });
  const agent = start(reaching(model));
  await agent.initialize();
  const { sessionId } = await open(agent);
  await expect.poll(() => choicesOf(shown(agent, "model")).length).toBeGreaterThan(20);
  expect(choicesOf(shown(agent, "model")).length).toBeLessThan(60);
  const { result } = await choose(agent, sessionId, "model", "custom:m-377");
  const values = choicesOf(optionOf(result, "model")).map(({ value }) => value);
  expect(values).toContain("custom:m-377");
  expect(values).not.toContain("custom:m-376");
});

test("an endpoint without a list costs nothing: the configured model stays the choice", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", fail(404, "not here"));
  const agent = start(reaching(model));
  await agent.initialize();
  const { sessionId, opened } = await open(agent);
  expect(choicesOf(optionOf(opened, "model")).map(({ value }) => value)).toEqual(["custom:test-model", "offline"]);
  await agent.prompt(sessionId, "/model whatever-it-has");
  model.script(say("hello"));
  await agent.prompt(sessionId, "hi");
  expect(model.requests.at(-1)?.body["model"]).toBe("whatever-it-has");
});

test("with nothing configured a server on this machine is found and used", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", { data: [{ id: "nomic-embed-text" }, { id: "qwen3:8b" }] });
  const { port } = new URL(model.baseUrl);
  const agent = start({ HERMES_LOCAL_SERVERS: `ollama=${port}` });
  await agent.initialize();
  let sessionId = "";
  // A session waits 200 ms for the server, which may stand still for longer: then the next one finds it.
  const used = async (): Promise<string | undefined> => {
    const { opened, ...session } = await open(agent);
    ({ sessionId } = session);
    return optionOf(opened, "model")?.currentValue;
  };
  await expect.poll(used).toBe("ollama:qwen3:8b");
  model.script(say("hello"));
  await agent.prompt(sessionId, "hi");
  expect(model.requests.at(-1)?.body["model"]).toBe("qwen3:8b");
  expect(model.requests.at(-1)?.headers.authorization).toBeUndefined();
});

test("the window of a loaded model replaces its largest one, and a line says when it is too small for the tools", async () => {
  const model = await modelServer();
  model.lookUps.set("/models", { data: [{ id: "qwen3:8b" }] });
  model.lookUps.set("/api/show", { model_info: { "qwen3.context_length": 40_960 } });
  model.respondWith(() => say("hello"));
  const agent = start({
    HERMES_LOCAL_SERVERS: "off",
    HERMES_PROVIDER: "ollama",
    HERMES_MODEL: "qwen3:8b",
    HERMES_BASE_URL: model.baseUrl,
  });
  await agent.initialize({ session: { notices: {} } });
  const { sessionId } = await open(agent);
  const size = async (): Promise<unknown> => {
    await agent.prompt(sessionId, "hi");
    return agent.of("usage_update").at(-1)?.["size"];
  };
  await expect.poll(size).toBe(40_960);
  expect(agent.of("notice")).toEqual([]);
  model.lookUps.set("/api/ps", { models: [{ name: "qwen3:8b", context_length: 2_048 }] });
  await expect.poll(size).toBe(2_048);
  await agent.prompt(sessionId, "hi");
  const warnings = agent.of("notice").filter(({ severity }) => severity === "warning");
  expect(warnings.map(({ title }) => title)).toContainEqual(
    expect.stringMatching(
      /^The window of this model has 2,048 tokens, and .* tools fill \d,\d+ of them: .*OLLAMA_CONTEXT_LENGTH/,
    ),
  );
});

test("a server on this machine that says nothing is not waited for without end, and not at all with a key", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  running.push({
    stop: async () => {
      silent.closeAllConnections();
      silent.close();
    },
  });
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const places = { HERMES_LOCAL_SERVERS: `ollama=${port},lmstudio=${port},llamacpp=${port}` };
  const agent = start(places);
  await agent.initialize();
  const { opened } = await open(agent);
  expect(optionOf(opened, "model")?.currentValue).toBe("offline");
  let asked = 0;
  silent.on("request", () => {
    asked += 1;
  });
  const keyed = start({ ...places, ...reaching(await modelServer()) });
  await keyed.initialize();
  await open(keyed);
  expect(asked).toBe(0);
});

test("a missing key is ACP's authentication error, and so are its ways out", async () => {
  const agent = new AcpProcess({ HERMES_PROVIDER: "openrouter" });
  running.push(agent);
  const { authMethods } = await agent.initialize({ auth: { terminal: true } });
  expect(authMethods).toMatchObject([
    { id: "hermes-setup", type: "terminal", args: ["--setup"] },
    { id: "hermes-home" },
  ]);
  const { authMethods: earlier } = await agent.initialize({ _meta: { "terminal-auth": true } });
  expect(earlier).toMatchObject([
    { _meta: { "terminal-auth": { args: [expect.stringMatching(/dist\/acp\.js$/), "--setup"] } } },
    {},
  ]);
  const { authMethods: plain } = await agent.initialize();
  expect(plain).toMatchObject([{ id: "hermes-home" }]);
  const { error } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  expect(error).toMatchObject({ code: -32000, message: expect.stringContaining("OPENROUTER_API_KEY") });
  expect((await agent.request("authenticate", { methodId: "hermes-home" })).error).toMatchObject({ code: -32000 });
  expect((await agent.request("authenticate", { methodId: "no-such-method" })).error).toMatchObject({ code: -32602 });
});

test("the choice is an entry of the journal, and no key is in it", async () => {
  const model = await modelServer();
  const agent = start(reaching(model));
  await agent.initialize();
  const { sessionId } = await open(agent);
  await choose(agent, sessionId, "model", "offline");
  const journal = readFileSync(join(agent.home, "vscode", "sessions", `${sessionId}.jsonl`), "utf8");
  expect(journal).toContain('"type":"model","choice":"offline"');
  expect(journal).not.toContain("sk-test-key");
});
