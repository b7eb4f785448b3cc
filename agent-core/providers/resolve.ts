/** Which model, reached how: from what was asked for and what the environment holds. */
import { table } from "./wire/table.gen.ts";
import type { ApiMode, Endpoint } from "./wire/wire.ts";

/** What the caller asks for; it stands over the environment. */
export type ModelSettings = {
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly apiMode?: string;
  readonly apiKey?: string;
};

export type ResolvedModel = { readonly mode: ApiMode; readonly endpoint: Endpoint; readonly model: string };

export type Resolution =
  | { readonly ok: true; readonly model: ResolvedModel }
  | { readonly ok: false; readonly message: string };

type Environment = Readonly<Record<string, string | undefined>>;

type Provider = {
  readonly name: string;
  readonly baseUrl: string | undefined;
  /** Variables that hold its key and its address. */
  readonly keyVariable: string | undefined;
  readonly urlVariable?: string;
  readonly mode?: ApiMode;
  /** Used when no model is named. */
  readonly model?: string;
};

/** In the order in which their keys are looked for. */
const PROVIDERS: readonly Provider[] = [
  {
    name: "openai",
    baseUrl: undefined,
    keyVariable: "OPENAI_API_KEY",
    urlVariable: "OPENAI_BASE_URL",
    model: "gpt-4.1",
  },
  {
    name: "openrouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    model: "openrouter/auto",
  },
  {
    name: "anthropic",
    baseUrl: undefined,
    keyVariable: "ANTHROPIC_API_KEY",
    urlVariable: "ANTHROPIC_BASE_URL",
    mode: "anthropic_messages",
  },
  { name: "ollama", baseUrl: "http://127.0.0.1:11434/v1", keyVariable: undefined },
  { name: "lmstudio", baseUrl: "http://127.0.0.1:1234/v1", keyVariable: undefined },
  { name: "llamacpp", baseUrl: "http://127.0.0.1:8080/v1", keyVariable: undefined },
  { name: "custom", baseUrl: undefined, keyVariable: undefined },
  { name: "offline", baseUrl: undefined, keyVariable: undefined, mode: "offline", model: "offline" },
];

const API_MODES: readonly ApiMode[] = [
  "chat_completions",
  "codex_responses",
  "anthropic_messages",
  "editor_model",
  "offline",
];

/** A local server takes any key, but the library wants one. */
const NO_KEY = "none";

export function resolveModel(settings: ModelSettings, environment: Environment): Resolution {
  const asked = withEnvironment(settings, environment);
  const provider = providerOf(asked, environment);
  if (typeof provider === "string") return { ok: false, message: provider };
  const mode = modeOf(asked, provider);
  if (typeof mode !== "object") return { ok: false, message: mode };
  const baseUrl = asked.baseUrl ?? variable(environment, provider.urlVariable) ?? provider.baseUrl;
  const apiKey = asked.apiKey ?? variable(environment, provider.keyVariable);
  const model = asked.model ?? provider.model;
  if (mode.mode === "offline")
    return resolved("offline", { provider: "offline", baseUrl: undefined, apiKey: undefined }, "offline");
  if (model === undefined) {
    return { ok: false, message: `No model is named for ${provider.name}. Set HERMES_MODEL, or model in config.yaml.` };
  }
  if (apiKey === undefined && baseUrl === undefined) {
    return {
      ok: false,
      message: `There is no key for ${provider.name}. Set HERMES_API_KEY${provider.keyVariable ? ` or ${provider.keyVariable}` : ""}.`,
    };
  }
  return resolved(mode.mode, { provider: provider.name, baseUrl, apiKey: apiKey ?? NO_KEY }, model);
}

function resolved(mode: ApiMode, endpoint: Endpoint, model: string): Resolution {
  return { ok: true, model: { mode, endpoint, model } };
}

function withEnvironment(settings: ModelSettings, environment: Environment): ModelSettings {
  const pick = (own: string | undefined, name: string): string | undefined => own || variable(environment, name);
  const provider = pick(settings.provider, "HERMES_PROVIDER");
  const model = pick(settings.model, "HERMES_MODEL");
  const baseUrl = pick(settings.baseUrl, "HERMES_BASE_URL");
  const apiMode = pick(settings.apiMode, "HERMES_API_MODE");
  const apiKey = pick(settings.apiKey, "HERMES_API_KEY");
  return {
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiMode !== undefined && { apiMode }),
    ...(apiKey !== undefined && { apiKey }),
  };
}

/** Named, else implied by an address, else the first whose key is there, else offline. Text: why it cannot be. */
function providerOf(asked: ModelSettings, environment: Environment): Provider | string {
  if (asked.provider !== undefined) {
    const named = PROVIDERS.find(({ name }) => name === asked.provider);
    if (named !== undefined) return named;
    if (asked.baseUrl !== undefined) return { name: asked.provider, baseUrl: undefined, keyVariable: undefined };
    return `There is no provider ${JSON.stringify(asked.provider)}. There are: ${PROVIDERS.map(({ name }) => name).join(", ")}; any other needs a base URL.`;
  }
  if (asked.apiMode === "offline") return byName("offline");
  if (asked.baseUrl !== undefined) return providerOfUrl(asked.baseUrl);
  const withKey = PROVIDERS.find(({ keyVariable }) => variable(environment, keyVariable) !== undefined);
  if (withKey !== undefined) return withKey;
  return asked.apiKey === undefined ? byName("offline") : byName("openai");
}

function providerOfUrl(baseUrl: string): Provider {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  if (host.endsWith("anthropic.com")) return byName("anthropic");
  if (host.endsWith("openai.com")) return byName("openai");
  if (host.endsWith("openrouter.ai")) return byName("openrouter");
  return byName("custom");
}

function byName(name: string): Provider {
  const provider = PROVIDERS.find((candidate) => candidate.name === name);
  if (provider === undefined) throw new Error(`The table of providers has no ${name}.`);
  return provider;
}

function modeOf({ apiMode }: ModelSettings, provider: Provider): { readonly mode: ApiMode } | string {
  const mode = apiMode ?? provider.mode ?? "chat_completions";
  const known = API_MODES.find((candidate) => candidate === mode);
  if (known === undefined) return `There is no API mode ${JSON.stringify(mode)}. There are: ${API_MODES.join(", ")}.`;
  if (table.some((wire) => wire.mode === known)) return { mode: known };
  return `The API mode ${known} is not available yet. Use an OpenAI-compatible endpoint (chat_completions), or offline.`;
}

function variable(environment: Environment, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : environment[name];
  return value === "" ? undefined : value;
}
