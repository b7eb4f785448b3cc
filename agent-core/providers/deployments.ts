/** The known deployments: address, key and peculiarities of every service that offers models. Data only. */
import type { ApiMode, Endpoint } from "./wire/wire.ts";

/** Differences of a chat completions endpoint from most others. */
export type ChatQuirks = {
  /** Name of the token limit. Default: `max_tokens`. */
  readonly maxTokensField?: "max_completion_tokens";
  /** True when the server answers unknown message fields with status 400. */
  readonly refusesUnknownFields?: boolean;
  /**
   * Reasoning of a message that has none, in a turn with tools. The service refuses such messages without the field.
   * Default: no field.
   */
  readonly missingReasoning?: "" | " ";
  /** Signature of a message's first call that has none, for models that refuse calls without one. Default: none. */
  readonly missingSignature?: { readonly models: RegExp; readonly signature: string };
  /** True when the server refuses `stream_options`. */
  readonly refusesStreamOptions?: boolean;
  /** True when ids of calls must have nine letters or digits. */
  readonly nineCharCallIds?: boolean;
  /** True when the models never write calls or thoughts into their text. */
  readonly writesNoCalls?: boolean;
};

/** Service with peculiarities. Users reach it at its own address, or name it as the `dialect` of a proxy's address. */
export type Dialect = { readonly hosts: readonly string[]; readonly quirks: ChatQuirks };

export const dialects: Readonly<Record<string, Dialect>> = {
  // Its V3.2 and later refuse a missing field in a turn with tools, and accept an empty one (issue 10193 of Continue).
  deepseek: { hosts: ["api.deepseek.com"], quirks: { missingReasoning: "" } },
  // Kimi K2.5 and later take an empty field for a missing one (pull request 4178 of pi).
  kimi: { hosts: ["api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"], quirks: { missingReasoning: " " } },
  // Google documents this signature for calls of other models (ai.google.dev/gemini-api/docs/thought-signatures).
  gemini: {
    hosts: ["generativelanguage.googleapis.com", "aiplatform.googleapis.com"],
    quirks: { missingSignature: { models: /gemini-([3-9]|\d\d)/i, signature: "skip_thought_signature_validator" } },
  },
  // Cohere refuses the option (strandsagents.com/docs/user-guide/concepts/model-providers/cohere) and gives usage without.
  cohere: { hosts: ["api.cohere.ai", "api.cohere.com"], quirks: { refusesStreamOptions: true } },
  mistral: { hosts: ["api.mistral.ai", "codestral.mistral.ai"], quirks: { nineCharCallIds: true } },
};

export type Deployment = {
  /** Name in settings and messages. */
  readonly name: string;
  /** Name in the vendor's spelling, for lists. */
  readonly title: string;
  readonly mode: ApiMode;
  /** Undefined when the user must set it. */
  readonly baseUrl?: string;
  /** Environment variable that overrides the address. */
  readonly urlVariable?: string;
  /** Hosts, with a port where it matters, that identify this deployment; a port alone does so on any host. */
  readonly hosts: readonly string[];
  /** Environment variable of the key; undefined when no key is needed. */
  readonly keyVariable?: string;
  /** Page where users get a key. */
  readonly keyPage?: string;
  /** Users can sign in in a browser instead (`accounts/`). */
  readonly hasSignIn?: true;
  /** Path under the base URL that requires a valid key. Default: the list of models. */
  readonly keyCheckPath?: string;
  /** Model for a request that names none. */
  readonly defaultModel?: string;
  /** Models to offer, best first: until the endpoint has listed its own, and at the top of a long list. */
  readonly knownModels?: readonly string[];
  readonly quirks?: ChatQuirks;
};

export const openai: Deployment = {
  name: "openai",
  title: "OpenAI",
  mode: "chat_completions",
  baseUrl: "https://api.openai.com/v1",
  urlVariable: "OPENAI_BASE_URL",
  hosts: ["api.openai.com"],
  keyVariable: "OPENAI_API_KEY",
  // Streams without a verified organisation, unlike its successors.
  defaultModel: "gpt-4.1",
  // Reasoning models refuse max_tokens; all others accept both names.
  quirks: { maxTokensField: "max_completion_tokens", refusesUnknownFields: true, writesNoCalls: true },
  keyPage: "https://platform.openai.com/api-keys",
  // From the SDK's type `ChatModel`.
  knownModels: [
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-5.6-sol",
    "gpt-5.6-terra",
    "gpt-5.6-luna",
    "gpt-5.4",
    "gpt-5.4-mini",
    "o4-mini",
  ],
};

export const openrouter: Deployment = {
  name: "openrouter",
  title: "OpenRouter",
  mode: "chat_completions",
  baseUrl: "https://openrouter.ai/api/v1",
  urlVariable: "OPENROUTER_BASE_URL",
  hosts: ["openrouter.ai"],
  keyVariable: "OPENROUTER_API_KEY",
  defaultModel: "openrouter/auto",
  keyPage: "https://openrouter.ai/settings/keys",
  hasSignIn: true,
  // Its list of models is public, so it does not verify a key.
  keyCheckPath: "/key",
  knownModels: [
    "openrouter/auto",
    "anthropic/claude-sonnet-5.5",
    "anthropic/claude-opus-5.5",
    "openai/gpt-5.4",
    "openai/gpt-4.1",
    "google/gemini-2.5-pro",
    "x-ai/grok-code-fast-1",
    "deepseek/deepseek-chat",
    "moonshotai/kimi-k2",
    "qwen/qwen3-coder",
  ],
};

export const anthropic: Deployment = {
  name: "anthropic",
  title: "Anthropic",
  mode: "anthropic_messages",
  baseUrl: "https://api.anthropic.com",
  urlVariable: "ANTHROPIC_BASE_URL",
  hosts: ["api.anthropic.com"],
  keyVariable: "ANTHROPIC_API_KEY",
  quirks: { writesNoCalls: true },
  // The balanced model on Anthropic's models page of November 2026, and a member of the SDK's type `Model`.
  defaultModel: "claude-sonnet-5-5",
  keyPage: "https://platform.claude.com/settings/keys",
  knownModels: ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-2"],
};

/** Nous Portal, with a key or with the token of a sign-in (`accounts/nous-portal.ts`). */
const nous: Deployment = {
  name: "nous",
  title: "Nous Portal",
  mode: "chat_completions",
  baseUrl: "https://inference-api.nousresearch.com/v1",
  urlVariable: "NOUS_BASE_URL",
  hosts: ["inference-api.nousresearch.com"],
  keyVariable: "NOUS_API_KEY",
  keyPage: "https://portal.nousresearch.com",
  hasSignIn: true,
  defaultModel: "Hermes-4-405B",
};

/** The editor's own models, under the user's account there. The editor also chooses the default. */
export const editor: Deployment = { name: "editor", title: "VS Code", mode: "editor_model", hosts: [] };

export const ollama: Deployment = {
  ...localServer("ollama", "Ollama", 11_434),
  // Nothing else uses its port: it is known on another machine, and from within a container, too.
  hosts: [":11434"],
};

export const lmstudio = localServer("lmstudio", "LM Studio", 1_234);

export const llamacpp: Deployment = {
  ...localServer("llamacpp", "llama.cpp", 8_080),
  // The server has one model and ignores the name in the request.
  defaultModel: "default",
};

/** Any other endpoint. The user sets its address. */
export const custom: Deployment = { name: "custom", title: "Other Endpoint", mode: "chat_completions", hosts: [] };

/** The built-in interpreter, without a network. */
export const offline: Deployment = {
  name: "offline",
  title: "Offline",
  mode: "offline",
  hosts: [],
  defaultModel: "offline",
};

/** The order decides which key wins when several are set. */
export const deployments: readonly Deployment[] = [
  openai,
  openrouter,
  anthropic,
  editor,
  ollama,
  lmstudio,
  llamacpp,
  custom,
  nous,
  offline,
];

/** A server on this machine, at the port that it uses without configuration. */
function localServer(name: string, title: string, port: number): Deployment {
  return {
    name,
    title,
    mode: "chat_completions",
    baseUrl: `http://127.0.0.1:${port}/v1`,
    hosts: [`127.0.0.1:${port}`, `localhost:${port}`],
  };
}

/** The deployment at an address; `custom` for an unknown one. */
export function deploymentAt(baseUrl: string): Deployment {
  const host = hostOf(baseUrl);
  const port = host.slice(host.lastIndexOf(":"));
  return deployments.find(({ hosts }) => hosts.includes(host) || hosts.includes(port)) ?? custom;
}

/**
 * Quirks belong to the named dialect, else to the address and not to the provider: a proxy under OpenAI's name may
 * differ from OpenAI.
 */
export function quirksOf({ baseUrl = "", dialect }: Endpoint): ChatQuirks {
  const [, named] = dialectOf(baseUrl, dialect) ?? [];
  return named?.quirks ?? deploymentAt(baseUrl).quirks ?? {};
}

/**
 * Name of the server that alone gets the opaque parts of its answers back: its dialect, its deployment, or the host of
 * an address that is not known.
 */
export function originOf({ baseUrl = "", dialect, provider }: Endpoint): string {
  const [name] = dialectOf(baseUrl, dialect) ?? [];
  if (name !== undefined) return name;
  const known = deploymentAt(baseUrl);
  if (known !== custom) return known.name;
  return hostOf(baseUrl) || provider;
}

function dialectOf(baseUrl: string, dialect: string | undefined): [string, Dialect] | undefined {
  const host = hostOf(baseUrl);
  const isAt = ({ hosts }: Dialect): boolean => hosts.some((known) => host === known || host.endsWith(`-${known}`));
  return Object.entries(dialects).find(([name, entry]) => (dialect === undefined ? isAt(entry) : name === dialect));
}

function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : "";
}

/** Variable of the key of an endpoint without its own. */
export const ANY_KEY = "HERMES_API_KEY";

/** Environment variable of a provider's key, if it needs one. */
export function keyVariableOf(provider: string): string | undefined {
  return deployments.find(({ name }) => name === provider)?.keyVariable;
}
