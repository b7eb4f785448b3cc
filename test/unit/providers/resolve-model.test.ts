import { describe, expect, test } from "vitest";
import { lmstudio, ollama } from "../../../agent-core/providers/deployments.ts";
import { withKeyAdvice } from "../../../agent-core/providers/fault-message.ts";
import {
  type ModelSettings,
  namesNoModel,
  type Resolution,
  resolveModel,
} from "../../../agent-core/providers/resolve-model.ts";

type Environment = Readonly<Record<string, string>>;

function resolve(environment: Environment, settings: ModelSettings = {}): Extract<Resolution, { ok: true }>["model"] {
  const resolution = resolveModel(settings, environment);
  if (!resolution.ok) throw new Error(resolution.message);
  return resolution.model;
}

function refusal(environment: Environment, settings: ModelSettings = {}): string {
  const resolution = resolveModel(settings, environment);
  if (resolution.ok) throw new Error(JSON.stringify(resolution.model));
  return withKeyAdvice(resolution);
}

const offline = {
  mode: "offline",
  model: "offline",
  endpoint: { provider: "offline", baseUrl: undefined, apiKey: undefined },
};

describe("nothing configured", () => {
  test("is offline", () => {
    expect(resolve({})).toEqual(offline);
    expect(resolve({ OPENAI_API_KEY: "", HERMES_API_KEY: "  " })).toEqual(offline);
    expect(resolve({ HERMES_PROVIDER: "auto" })).toEqual(offline);
  });
});

describe("keys in the environment", () => {
  test("OpenAI's", () => {
    expect(resolve({ OPENAI_API_KEY: " k\n" })).toEqual({
      mode: "chat_completions",
      model: "gpt-4.1",
      endpoint: { provider: "openai", baseUrl: "https://api.openai.com/v1", apiKey: "k" },
    });
  });

  test("OpenRouter's, after OpenAI's", () => {
    expect(resolve({ OPENROUTER_API_KEY: "k" }).endpoint).toMatchObject({ provider: "openrouter", apiKey: "k" });
    expect(resolve({ OPENROUTER_API_KEY: "k", OPENAI_API_KEY: "o" }).endpoint).toMatchObject({ apiKey: "o" });
  });

  test("HERMES_API_KEY stands over them", () => {
    expect(resolve({ HERMES_API_KEY: "h", OPENAI_API_KEY: "o" }).endpoint).toMatchObject({
      provider: "openai",
      apiKey: "h",
    });
  });

  test("Anthropic's, after OpenRouter's", () => {
    expect(resolve({ ANTHROPIC_API_KEY: "a" })).toEqual({
      mode: "anthropic_messages",
      model: "claude-sonnet-5-5",
      endpoint: { provider: "anthropic", baseUrl: "https://api.anthropic.com", apiKey: "a" },
    });
    expect(resolve({ ANTHROPIC_API_KEY: "a", OPENROUTER_API_KEY: "k" }).endpoint.provider).toBe("openrouter");
  });

  test("OPENAI_BASE_URL alone is enough: local servers want no key", () => {
    expect(resolve({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1", HERMES_MODEL: "m" }).endpoint).toEqual({
      provider: "openai",
      baseUrl: "http://127.0.0.1:9/v1",
      apiKey: undefined,
    });
  });
});

describe("a provider that is named", () => {
  test("decides, and settings stand over the environment", () => {
    const environment = { HERMES_PROVIDER: "openai", OPENAI_API_KEY: "o", OPENROUTER_API_KEY: "r" };
    expect(resolve(environment, { provider: "openrouter", model: "x/y" })).toMatchObject({
      model: "x/y",
      endpoint: { provider: "openrouter", apiKey: "r" },
    });
  });

  test("offline stays offline, whatever keys there are", () => {
    expect(resolve({ HERMES_PROVIDER: "offline", OPENAI_API_KEY: "o", HERMES_MODEL: "gpt-4.1" })).toEqual(offline);
    expect(resolve({ HERMES_API_MODE: "offline", OPENAI_API_KEY: "o" })).toEqual(offline);
  });

  test("a local server needs a model and no key", () => {
    expect(resolve({ HERMES_PROVIDER: "ollama", HERMES_MODEL: "qwen3" })).toEqual({
      mode: "chat_completions",
      model: "qwen3",
      endpoint: { provider: "ollama", baseUrl: "http://127.0.0.1:11434/v1", apiKey: undefined },
    });
    expect(refusal({ HERMES_PROVIDER: "ollama" })).toBe(
      "No model is set for ollama. Set HERMES_MODEL, or model in config.yaml.",
    );
    expect(resolve({ HERMES_PROVIDER: "llamacpp" }).model).toBe("default");
  });

  test("without its key it says which variable to set", () => {
    expect(refusal({ HERMES_PROVIDER: "openrouter" })).toBe(
      "No key is set for openrouter. Set OPENROUTER_API_KEY in the environment or in ~/.hermes/.env.",
    );
    expect(refusal({ HERMES_PROVIDER: "openrouter", HERMES_HOME: "/data/agent" })).toContain("or in /data/agent/.env.");
  });

  test("an unknown one needs an address, and keeps its name", () => {
    expect(refusal({ HERMES_PROVIDER: "acme" })).toContain('no provider "acme"');
    expect(
      resolve({ HERMES_PROVIDER: "acme", HERMES_BASE_URL: "https://acme.example/v1", HERMES_MODEL: "m" }),
    ).toMatchObject({
      endpoint: { provider: "acme", baseUrl: "https://acme.example/v1" },
    });
  });
});

describe("an address", () => {
  test("decides the provider", () => {
    const at = (HERMES_BASE_URL: string) =>
      resolve({ HERMES_BASE_URL, HERMES_MODEL: "m", HERMES_API_KEY: "h" }).endpoint.provider;
    expect(at("https://api.openai.com/v1")).toBe("openai");
    expect(at("https://openrouter.ai/api/v1/")).toBe("openrouter");
    expect(at("http://localhost:1234/v1")).toBe("lmstudio");
    expect(at("http://localhost:11434/v1")).toBe("ollama");
    expect(at("http://[::1]:11434/v1")).toBe("ollama");
    expect(at("http://host.docker.internal:11434/v1")).toBe("ollama");
    expect(at("https://models.example/v1")).toBe("custom");
    expect(at("https://api.openai.com.evil.example/v1")).toBe("custom");
  });

  test("of somebody else is never given a provider's own key", () => {
    const environment = { HERMES_BASE_URL: "https://models.example/v1", HERMES_MODEL: "m", OPENAI_API_KEY: "o" };
    expect(resolve(environment).endpoint.apiKey).toBeUndefined();
  });

  test("that is none is refused", () => {
    expect(refusal({ HERMES_BASE_URL: "my server", HERMES_MODEL: "m" })).toContain('"myserver" is not a base URL');
    expect(refusal({ HERMES_BASE_URL: "file:///etc", HERMES_MODEL: "m" })).toContain("is not a base URL");
  });
});

describe("OpenAI's reasoning models", () => {
  const mode = (HERMES_MODEL: string, more: Environment = { OPENAI_API_KEY: "o" }) =>
    resolve({ HERMES_MODEL, ...more }).mode;

  test.each([
    "o1",
    "o3-pro",
    "o4-mini-2025-04-16",
    "gpt-5",
    "GPT-5-mini",
    "gpt-5.1",
    "gpt-5.2-codex",
    "codex-mini-latest",
    "ft:o4-mini:acme::1",
  ])("%s speaks Responses at OpenAI", (model) => {
    expect(mode(model)).toBe("codex_responses");
    expect(mode(model, { HERMES_BASE_URL: "https://api.openai.com/v1", HERMES_API_KEY: "h" })).toBe("codex_responses");
  });

  test.each([
    "gpt-4.1",
    "gpt-4o",
    "gpt-3.5-turbo",
    "gpt-35-turbo",
    "gpt-5-chat-latest",
    "chatgpt-4o-latest",
    "gpt-oss-120b",
  ])("%s is none", (model) => expect(mode(model)).toBe("chat_completions"));

  test("elsewhere speak what their provider speaks, also behind OpenAI's name", () => {
    expect(mode("openai/gpt-5", { OPENROUTER_API_KEY: "r" })).toBe("chat_completions");
    expect(mode("gpt-5", { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" })).toBe("chat_completions");
    expect(mode("o3", { HERMES_BASE_URL: "https://models.example/v1" })).toBe("chat_completions");
  });
});

test("a dialect names the service behind an address; an unknown one is an error that lists the known", () => {
  const proxy = { HERMES_BASE_URL: "http://127.0.0.1:9/v1", HERMES_MODEL: "m" };
  expect(resolve({ ...proxy, HERMES_DIALECT: "kimi" })).toMatchObject({ endpoint: { dialect: "kimi" } });
  expect(resolve(proxy).endpoint.dialect).toBeUndefined();
  expect(refusal({ ...proxy, HERMES_DIALECT: "klingon" })).toBe(
    'There is no dialect "klingon". Set HERMES_DIALECT to one of: deepseek, kimi, gemini, cohere, mistral.',
  );
});

describe("an API mode that is named", () => {
  test("decides, whatever the model", () => {
    const mode = (HERMES_API_MODE: string, HERMES_MODEL: string) =>
      resolve({ HERMES_API_MODE, HERMES_MODEL, OPENAI_API_KEY: "o" }).mode;
    expect(mode("codex_responses", "gpt-4.1")).toBe("codex_responses");
    expect(mode("chat_completions", "gpt-5")).toBe("chat_completions");
    expect(
      resolve({ HERMES_BASE_URL: "http://127.0.0.1:9/v1", HERMES_MODEL: "m" }, { apiMode: "codex_responses" }),
    ).toMatchObject({ mode: "codex_responses", endpoint: { provider: "custom" } });
    expect(refusal({ HERMES_API_MODE: "codex_responses" })).toContain("No key is set for openai");
  });

  test("editor_model: the editor is the address; without a model of its there is none", () => {
    expect(refusal({ HERMES_API_MODE: "editor_model", OPENAI_API_KEY: "o" })).toContain("The editor offers no model");
    expect(resolve({}, { apiMode: "editor_model", model: "maker/small" })).toMatchObject({
      mode: "editor_model",
      endpoint: { provider: "editor", baseUrl: undefined },
      model: "maker/small",
    });
  });

  test("Anthropic's address and provider bring their own", () => {
    const environment = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o" };
    const anthropic = { mode: "anthropic_messages", endpoint: { provider: "anthropic", apiKey: "a" } };
    expect(resolve({ ...environment, HERMES_BASE_URL: "https://api.anthropic.com" })).toMatchObject(anthropic);
    expect(resolve({ ...environment, HERMES_PROVIDER: "anthropic" })).toMatchObject(anthropic);
    expect(refusal({ HERMES_PROVIDER: "anthropic" })).toContain("No key is set for anthropic. Set ANTHROPIC_API_KEY");
  });

  test("decides between the providers that have a key", () => {
    const environment = { OPENAI_API_KEY: "o", ANTHROPIC_API_KEY: "a" };
    expect(resolve(environment).endpoint.provider).toBe("openai");
    expect(resolve({ ...environment, HERMES_API_MODE: "anthropic_messages" }).endpoint.provider).toBe("anthropic");
    const withKey = { HERMES_API_KEY: "h", HERMES_API_MODE: "anthropic_messages" };
    expect(resolve(withKey).endpoint).toMatchObject({ provider: "anthropic", apiKey: "h" });
  });

  test("reaches endpoints that are compatible with Anthropic's", () => {
    const settings = { apiMode: "anthropic_messages", baseUrl: "https://models.example/anthropic", model: "m" };
    expect(resolve({ ANTHROPIC_API_KEY: "a" }, { ...settings, apiKey: "k" })).toEqual({
      mode: "anthropic_messages",
      model: "m",
      endpoint: { provider: "custom", baseUrl: "https://models.example/anthropic", apiKey: "k" },
    });
  });

  test("an unknown one is refused with the list", () => {
    expect(refusal({ HERMES_API_MODE: "telepathy", OPENAI_API_KEY: "o" })).toContain('no API mode "telepathy"');
  });

  test("chat_completions without an address or key says what is missing instead of answering offline", () => {
    expect(refusal({ HERMES_API_MODE: "chat_completions" })).toContain("No key is set for openai");
  });
});

describe("a discovered server", () => {
  const found = [
    { ...ollama, defaultModel: "qwen3:8b" },
    { ...lmstudio, defaultModel: "gemma-3" },
  ];
  const withFound = (environment: Environment) => {
    const resolution = resolveModel({}, environment, found);
    return resolution.ok ? `${resolution.model.endpoint.provider} ${resolution.model.model}` : resolution.message;
  };

  test("is used in its order when nothing is configured, with the model that is named", () => {
    expect(withFound({})).toBe("ollama qwen3:8b");
    expect(withFound({ HERMES_MODEL: "qwen3:30b" })).toBe("ollama qwen3:30b");
  });

  test("stands behind keys and whatever is named", () => {
    expect(withFound({ OPENAI_API_KEY: "k" })).toBe("openai gpt-4.1");
    expect(withFound({ HERMES_PROVIDER: "offline" })).toBe("offline offline");
  });

  test("gives a provider that is named without a model one that it has", () => {
    expect(withFound({ HERMES_PROVIDER: "lmstudio" })).toBe("lmstudio gemma-3");
  });

  test("is only looked for when nothing says which model to use", () => {
    expect(namesNoModel({})).toBe(true);
    expect(namesNoModel({ HERMES_MODEL: "m", HERMES_PROVIDER: "auto" })).toBe(true);
    for (const environment of [
      { OPENAI_API_KEY: "k" },
      { HERMES_PROVIDER: "offline" },
      { HERMES_API_MODE: "offline" },
      { HERMES_BASE_URL: "http://127.0.0.1:9/v1" },
    ]) {
      expect(namesNoModel(environment)).toBe(false);
    }
  });
});

describe("another provider than the environment's", () => {
  const environment = {
    HERMES_BASE_URL: "https://models.example/v1",
    HERMES_API_KEY: "example-key",
    HERMES_MODEL: "m",
    OPENROUTER_API_KEY: "r",
  };

  test("never gets its address or its key", () => {
    expect(resolve(environment, { provider: "openrouter", model: "x/y" })).toEqual({
      mode: "chat_completions",
      model: "x/y",
      endpoint: { provider: "openrouter", baseUrl: "https://openrouter.ai/api/v1", apiKey: "r" },
    });
    expect(resolve({ HERMES_API_KEY: "h" }, { provider: "ollama", model: "q" }).endpoint.apiKey).toBeUndefined();
    const both = { HERMES_API_KEY: "h", OPENROUTER_API_KEY: "r" };
    expect(resolve(both, { provider: "openrouter" }).endpoint.apiKey).toBe("r");
  });

  test("the environment's own does", () => {
    expect(resolve(environment, { provider: "custom" })).toMatchObject({
      model: "m",
      endpoint: { baseUrl: "https://models.example/v1", apiKey: "example-key" },
    });
  });
});

test.each([
  ["https://api.example.org/v1/chat/completions", "https://api.example.org/v1"],
  ["https://api.example.org/v1/messages/", "https://api.example.org/v1"],
  ["https://api.example.org/v1/responses", "https://api.example.org/v1"],
  ["http://localhost:8000/v1/models", "http://localhost:8000/v1"],
  ["\u200bhttps://api.example.org/v1 ", "https://api.example.org/v1"],
  ["<https://api.example.org//v1/v1>", "https://api.example.org/v1"],
  ["https:/api.example.org/v1/embeddings#top", "https://api.example.org/v1"],
  ["api.example.org/v1", "https://api.example.org/v1"],
  ["localhost:1234", "http://localhost:1234"],
  ["192.168.1.5:11434/api/chat", "http://192.168.1.5:11434"],
  ["https://a.azure.com/d/gpt/chat/completions?api-version=1", "https://a.azure.com/d/gpt?api-version=1"],
  ['"https://api.example.org/v1"', "https://api.example.org/v1"],
  ["https://proxy.example.com/https://api.openai.com/v1", "https://proxy.example.com/https://api.openai.com/v1"],
  ["https://host/a//b/v1", "https://host/a//b/v1"],
  ["https://internal.corp/llm/chat", "https://internal.corp/llm/chat"],
  ["https://host:8443/serving-endpoints/chat", "https://host:8443/serving-endpoints/chat"],
  ["https://host:8443/llm/embeddings/", "https://host:8443/llm/embeddings/"],
  ["https://api.example.org/v1/chat", "https://api.example.org/v1"],
  ["https://api.example.org/v1/chat/completions?a=b?c&d=e", "https://api.example.org/v1?a=b?c&d=e"],
  ["[::1]:8080/v1", "http://[::1]:8080/v1"],
])("the address %j counts as %s", (baseUrl, expected) => {
  const found = resolveModel({ baseUrl, model: "m", apiKey: "\ufeffsk-1\u200b23 \n" }, {});
  expect(found.ok && found.model.endpoint).toMatchObject({ baseUrl: expected, apiKey: "sk-123" });
});

test.each([
  "Bearer sk-123",
  "“sk-123”",
  "<sk-123>;",
  "Authorization: Bearer sk-123",
  "'sk-123'",
  "export API_KEY=sk-123",
  'API_KEY="sk-123"',
])("the key in %j counts alone", (apiKey) => {
  const found = resolveModel({ baseUrl: "https://api.example.org/v1", model: "m", apiKey }, {});
  expect(found.ok && found.model.endpoint.apiKey).toBe("sk-123");
});
