import { afterEach, beforeEach, expect, test } from "vitest";
import { discoverLocalServers, localPlaces } from "../../../../agent-core/providers/catalogue/discovered-models.ts";
import { localDetails } from "../../../../agent-core/providers/catalogue/local-details.ts";
import { fail, type ModelServer, startModelServer } from "../../../support/model-server/model-server.ts";

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.stop());

const port = (): string => new URL(server.baseUrl).port;
const onServer = (provider: string, model: string) =>
  localDetails({
    mode: "chat_completions",
    endpoint: { provider, baseUrl: server.baseUrl, apiKey: undefined },
    model,
  });

test("the usual ports, none, or the named ones, always on the loopback", () => {
  const addresses = (setting?: string) => localPlaces(setting).map(({ baseUrl }) => baseUrl);
  expect(addresses()).toEqual(["http://127.0.0.1:11434/v1", "http://127.0.0.1:1234/v1", "http://127.0.0.1:8080/v1"]);
  expect(addresses("off")).toEqual([]);
  expect(addresses("lmstudio=41234, ollama=1")).toEqual(["http://127.0.0.1:41234/v1", "http://127.0.0.1:1/v1"]);
  expect(addresses("openai=1,ollama=evil.example:80,lmstudio")).toEqual([]);
});

test("a server that answers is found with its models, its first one that chats as the default", async () => {
  server.lookUps.set("/models", { data: [{ id: "nomic-embed-text" }, { id: "qwen3:8b" }, { id: "gemma3" }] });
  const found = await discoverLocalServers(localPlaces(`ollama=${port()}`));
  expect(found).toMatchObject([
    { deployment: { name: "ollama", defaultModel: "qwen3:8b" }, models: [{ id: "qwen3:8b" }, { id: "gemma3" }] },
  ]);
});

test.each([
  ["a server without models", { data: [] }],
  ["another server", "<html>"],
  ["one that refuses", fail(403, "no")],
])("%s is not found", async (_what, answer) => {
  server.lookUps.set("/models", answer);
  expect(await discoverLocalServers(localPlaces(`llamacpp=${port()}`))).toEqual([]);
});

test("llama.cpp reports the window that it was started with", async () => {
  server.lookUps.set("/props", { default_generation_settings: { n_ctx: 16_384 }, modalities: { vision: true } });
  expect(await onServer("llamacpp", "default")).toEqual({ contextWindow: 16_384, images: true });
});

test("LM Studio reports it for each model", async () => {
  server.lookUps.set("/api/v0/models", { data: [{ id: "gemma-3", type: "vlm", loaded_context_length: 8_192 }] });
  expect(await onServer("lmstudio", "gemma-3")).toEqual({ contextWindow: 8_192, images: true });
});

test("Ollama reports the model's largest window, unless its user set a smaller one", async () => {
  const shown = { model_info: { "qwen3.context_length": 40_960 }, capabilities: ["tools", "thinking"] };
  server.lookUps.set("/api/show", shown);
  expect(await onServer("ollama", "qwen3")).toEqual({ contextWindow: 40_960, images: false, reasoning: true });
  server.lookUps.set("/api/show", { ...shown, parameters: 'stop "<|end|>"\nnum_ctx 8192' });
  expect(await onServer("ollama", "qwen3")).toMatchObject({ contextWindow: 8_192 });
});

test("Ollama reports the window of the loaded model, which is often smaller", async () => {
  server.lookUps.set("/api/show", { model_info: { "qwen3.context_length": 40_960 } });
  server.lookUps.set("/api/ps", { models: [{ name: "qwen3:latest", context_length: 4_096 }, { name: "other" }] });
  expect(await onServer("ollama", "qwen3")).toEqual({ contextWindow: 4_096 });
  expect(await onServer("ollama", "gemma3")).toEqual({ contextWindow: 40_960 });
});

test("a server that does not tell, or is no local one, costs nothing", async () => {
  expect(await onServer("llamacpp", "default")).toBeUndefined();
  expect(await onServer("openai", "gpt-4.1")).toBeUndefined();
  expect(server.lookedUp).toEqual([]);
});
