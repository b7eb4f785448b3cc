import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { AIAgent } from "../../../agent-core/agent/ai-agent.ts";
import { configuredAgent } from "../../../agent-core/agent/configured-agent.ts";
import type { TranscriptEntry } from "../../../agent-core/sessions/conversation.ts";
import { say, startModelServer } from "../../support/model-server/model-server.ts";

/** Nothing is cancelled here. */
const { signal } = new AbortController();
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-configured-"));
});

async function configured(yaml: string, environment: Record<string, string> = {}) {
  writeFileSync(join(home, "config.yaml"), yaml);
  return (await configuredAgent({ HERMES_HOME: home, ...environment }, "acp")).options;
}

const PROVIDERS = `
providers:
  own:
    base_url: http://127.0.0.1:9/v1
    key_env: OWN_KEY
    api_mode: chat_completions
    stale_timeout_seconds: 5
`;

test("a model gets the address and key of the user's own provider; the environment overrides them, but not by empty variables", async () => {
  const yaml = `${PROVIDERS}\nmodel:\n  default: m\n  provider: own\n`;
  expect((await configured(yaml, { OWN_KEY: "k" })).environment).toMatchObject({
    HERMES_MODEL: "m",
    HERMES_PROVIDER: "own",
    HERMES_BASE_URL: "http://127.0.0.1:9/v1",
    HERMES_API_KEY: "k",
  });
  expect((await configured(yaml, { HERMES_MODEL: "other" })).environment).toMatchObject({ HERMES_MODEL: "other" });
  const empty = { HERMES_MODEL: "", HERMES_BASE_URL: " " };
  expect((await configured(yaml, empty)).environment).toMatchObject({
    HERMES_MODEL: "m",
    HERMES_BASE_URL: "http://127.0.0.1:9/v1",
  });
});

test("a provider's dialect is part of its section", async () => {
  const { environment } = await configured(
    "providers:\n  own:\n    base_url: http://127.0.0.1:9/v1\n    dialect: deepseek\nmodel:\n  default: m\n  provider: own\n",
  );
  expect(environment).toMatchObject({ HERMES_DIALECT: "deepseek" });
});

test("fallbacks use the section of their provider", async () => {
  const { fallbacks, silenceMs } = await configured(
    `${PROVIDERS}\nfallback_providers:\n  - provider: own\n    model: a\n  - provider: openrouter\n    model: b\n    key_env: OTHER\n`,
    { OWN_KEY: "k", OTHER: "o" },
  );
  expect(fallbacks).toEqual([
    {
      provider: "own",
      model: "a",
      baseUrl: "http://127.0.0.1:9/v1",
      apiMode: "chat_completions",
      apiKey: "k",
      keyVariable: "OWN_KEY",
    },
    { provider: "openrouter", model: "b", apiKey: "o", keyVariable: "OTHER" },
  ]);
  expect(silenceMs?.("own")).toBe(5_000);
  expect(silenceMs?.("openrouter")).toBeUndefined();
});

test("a key that was renewed in the home's .env is used", async () => {
  const { refreshEnvironment } = await configured("model: m\n");
  writeFileSync(join(home, ".env"), "OPENAI_API_KEY=sk-renewed-1234\n");
  expect(await refreshEnvironment?.()).toMatchObject({ OPENAI_API_KEY: "sk-renewed-1234" });
});

test("the engine of the context window is chosen by name; the original's name means the built-in one", async () => {
  const full = { used: 900, window: 1_000, isNewTurn: true };
  const engineOf = async (yaml: string) => (await configured(yaml)).contextEngine;
  expect((await engineOf("model: m\n"))?.shouldCompress(full, signal)).toBe(true);
  expect((await engineOf("context:\n  engine: compressor\n"))?.name).toBe("default");
  expect((await engineOf("context:\n  engine: none\n"))?.shouldCompress(full, signal)).toBe(false);
  expect((await engineOf("compression:\n  enabled: false\n"))?.shouldCompress(full, signal)).toBe(false);
  writeFileSync(join(home, "config.yaml"), "context:\n  engine: magic\n");
  const { options, pluginEngine } = await configuredAgent({ HERMES_HOME: home }, "acp");
  expect([options.contextEngine?.name, pluginEngine]).toEqual(["default", "magic"]);
});

test("sampling options of the model, and messages that precede every conversation", async () => {
  writeFileSync(
    join(home, "prefill.json"),
    JSON.stringify([
      { role: "user", content: "Speak like a sailor." },
      { role: "assistant", content: "Aye." },
    ]),
  );
  const model = "model: {default: m, temperature: 0.2, top_p: 0.9, max_tokens: 500, stop: END}\n";
  const { sampling, prefillMessages } = await configured(
    `${model}agent: {prefill_messages_file: prefill.json, reasoning_effort: low}\n`,
  );
  expect(sampling).toEqual({ temperature: 0.2, topP: 0.9, maxTokens: 500, stop: ["END"], reasoningEffort: "low" });
  expect(prefillMessages).toHaveLength(2);
  writeFileSync(join(home, "config.yaml"), "prefill_messages_file: none.json\n");
  const { warnings } = await configuredAgent({ HERMES_HOME: home }, "acp");
  expect(warnings).toEqual([expect.stringContaining(`${join(home, "none.json")} was not used. There is no such file`)]);
});

test("each platform has its own toolsets; a supported name without tools here is reported", async () => {
  const yaml = "toolsets: [hermes-cli]\nplatform_toolsets:\n  cli: [file, image_gen, skills]\n  acp: safe\n";
  writeFileSync(join(home, "config.yaml"), yaml);
  const cli = await configuredAgent({ HERMES_HOME: home }, "cli");
  expect(cli.options.enabledToolsets).toEqual(["file", "image_gen", "skills"]);
  expect(cli.warnings).toEqual(["config.yaml: toolsets without tools in this version: image_gen."]);
  const acp = await configuredAgent({ HERMES_HOME: home }, "acp");
  expect(acp.options.enabledToolsets).toEqual(["safe"]);
  expect(acp.warnings).toEqual([]);
});

test("compression.target is the aim of a compression, below the threshold", async () => {
  const targetOf = async (yaml: string) => (await configured(`compression: {${yaml}}\n`)).contextEngine?.target(1_000);
  expect(await targetOf("threshold: 0.5")).toBe(300);
  expect(await targetOf("threshold: 0.5, target: 0.4")).toBe(400);
  expect(await targetOf("threshold: 0.5, target: 0.5")).toBe(450);
  const { warnings } = await configuredAgent({ HERMES_HOME: home }, "acp");
  expect(warnings).toEqual([expect.stringContaining("at most 90% of compression.threshold")]);
});

test("compression.protect_last_n is the number of newest messages that stay", async () => {
  const entries: TranscriptEntry[] = Array.from({ length: 60 }, (_, position) => ({
    position,
    role: "user",
    shownAs: "prompt",
    isCutOff: false,
    message:
      position % 2 === 0 ? { role: "user" as const, content: "go on" } : { role: "assistant" as const, content: "ok" },
  }));
  const plan = { transcript: entries, compression: undefined, target: 10_000, enough: 0 };
  const droppedWith = async (count: number) => {
    const { contextEngine } = await configured(`compression: {protect_last_n: ${count}}\n`);
    return (await contextEngine?.plan(plan, signal))?.fresh.length ?? 0;
  };
  expect((await droppedWith(10)) - (await droppedWith(30))).toBe(20);
});

test("extra_body of a provider is in the body of its requests, under the request's own fields", async () => {
  const server = await startModelServer();
  server.script(say("hi"));
  const own = {
    base_url: server.baseUrl,
    api_key: "sk-12345678",
    extra_body: { top_k: 5, model: "other", stream: false },
  };
  const options = await configured(JSON.stringify({ providers: { own }, model: { default: "m", provider: "own" } }));
  const agent = new AIAgent({ ...options, title: "named" });
  await agent.chat("hello");
  await agent.close();
  await server.stop();
  expect(server.requests[0]?.body).toMatchObject({ top_k: 5, model: "m", stream: true });
});
