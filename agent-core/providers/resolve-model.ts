/** Resolves settings and environment to a model and its endpoint. */
import { isNearby } from "../platform/http/network-settings.ts";
import {
  custom,
  type Deployment,
  deploymentAt,
  deployments,
  dialects,
  editor,
  offline,
  openai,
} from "./deployments.ts";
import { keyAdvice } from "./fault-message.ts";
import { isOpenAiReasoningModel } from "./model-info.ts";
import { API_MODES, type ApiMode, type Endpoint } from "./wire/wire.ts";

/** Settings of the caller. They override the environment. */
export type ModelSettings = {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiMode?: string | undefined;
  readonly apiKey?: string | undefined;
  /** Variable that has the key, or should have it. */
  readonly keyVariable?: string | undefined;
  /** Name in `dialects`. Default: the dialect of the address. */
  readonly dialect?: string | undefined;
  /** `off`: calls that a model writes as text do not run. Default: they do. */
  readonly textCalls?: string | undefined;
};

export type ResolvedModel = { readonly mode: ApiMode; readonly endpoint: Endpoint; readonly model: string };

/** `message`: one line for people about a missing or wrong setting. `keyFor`: provider that lacks only its key. */
export type Resolution =
  | { readonly ok: true; readonly model: ResolvedModel }
  | { readonly ok: false; readonly message: string; readonly keyFor?: string; readonly keyAdvice?: string };

type Environment = Readonly<Record<string, string | undefined>>;

type Refusal = Extract<Resolution, { ok: false }>;

/** `provider: auto` of an original home means no provider. */
const AUTOMATIC = "auto";

/**
 * Mode, first match: setting, OpenAI's for its reasoning models, provider's, address's, chat_completions. Provider,
 * first match: setting, address's, first with a key, first of `available`, offline. HERMES_* override the providers'
 * own variables. `available`: discovered deployments with a default model, the editor's models before local servers.
 */
export function resolveModel(
  settings: ModelSettings,
  environment: Environment,
  available: readonly Deployment[] = [],
): Resolution {
  const asked = withEnvironment(settings, environment);
  const deployment = chooseDeployment(asked, environment, available);
  if ("message" in deployment) return deployment;
  const baseUrl = cleanAddress(asked.baseUrl ?? variable(environment, deployment.urlVariable)) ?? deployment.baseUrl;
  const mode = chooseMode(asked, deployment, baseUrl);
  if (typeof mode !== "string") return mode;
  if (mode === "offline") return resolved(mode, { provider: offline.name, baseUrl: undefined }, offline.name);
  if (mode === editor.mode) return editorModel(asked.model ?? deployment.defaultModel);
  const apiKey = plain((asked.apiKey ?? variable(environment, deployment.keyVariable))?.replace(COPIED, ""));
  const provider = deployment.name;
  if (baseUrl === undefined) return refused(`No address is set for ${provider}. Set HERMES_BASE_URL.`);
  if (URL.parse(baseUrl)?.protocol.startsWith("http") !== true)
    return refused(`${JSON.stringify(baseUrl)} is not a base URL: it must begin with http(s)://.`);
  const model = asked.model ?? deployment.defaultModel;
  if (model === undefined) {
    return refused(`No model is set for ${provider}. Set HERMES_MODEL, or model in config.yaml.`);
  }
  if (apiKey === undefined && deployment.keyVariable !== undefined && baseUrl === deployment.baseUrl) {
    return {
      ...refused(`No key is set for ${provider}.`),
      keyFor: provider,
      keyAdvice: keyAdvice(provider, environment),
    };
  }
  return (
    unknownDialect(asked.dialect) ??
    resolved(mode, { provider, baseUrl, apiKey, dialect: asked.dialect, textCalls: asked.textCalls }, model)
  );
}

/** Words before a key in a header or a file of variables. */
const COPIED = /^\s*(?:authorization:\s*)?bearer\s+|^\s*(?:export\s+)?[A-Z][A-Z_\d]*=/i;

/** The text without blanks, characters without a glyph, quotes and brackets, which come along when a key or an address is copied. */
function plain(text: string | undefined): string | undefined {
  return text?.replaceAll(/[\s\p{Cf}]/gu, "").replaceAll(/^["'`“”‘’<]+|["'`“”‘’>,;]+$/gu, "");
}

/** A path of an API, which follows its base URL. `api`: Ollama's own. */
const API_PATH =
  /\/+(?:(?:chat\/)?completions|messages|responses|models|api\/(?:chat|generate|tags)|(?<=\/v\d+\/+)(?:chat|embeddings))\/*$/;
/** The base URL of an address that lacks its scheme, doubles a part, or goes on to one path of the API. */
function cleanAddress(written: string | undefined): string | undefined {
  const [, scheme, rest = ""] = /^(?:(https?):\/*)?(.*)$/i.exec(plain(written) ?? "") ?? [];
  if (scheme === undefined && !/^[\w.-]+\.\w+(?:[:/]|$)|^[\w-]+:\d|^\[/.test(rest)) return plain(written);
  const [place = "", ...queries] = rest.replace(/#.*$/, "").split("?");
  const plainPlace = place.replace(/^([^/]+)\/{2,}/, "$1/").replace(API_PATH, "");
  const base = plainPlace.replace(/(\/v1)\1\/*$/, "$1");
  // Servers of the user's own seldom have a certificate.
  const isOwn = isNearby(URL.parse(`http://${rest}`)?.hostname ?? "");
  return `${scheme?.toLowerCase() ?? (isOwn ? "http" : "https")}://${[base, ...queries].join("?")}`;
}

function unknownDialect(dialect: string | undefined): Refusal | undefined {
  if (dialect === undefined || dialect in dialects) return undefined;
  const known = Object.keys(dialects).join(", ");
  return refused(`There is no dialect ${JSON.stringify(dialect)}. Set HERMES_DIALECT to one of: ${known}.`);
}

/** The editor needs neither an address nor a key. */
function editorModel(model: string | undefined): Resolution {
  if (model !== undefined) return resolved(editor.mode, { provider: editor.name, baseUrl: undefined }, model);
  return refused("The editor offers no model. Choose another provider, or name one with HERMES_MODEL.");
}

export function namesNoModel(environment: Environment): boolean {
  const asked = withEnvironment({}, environment);
  const isChosen = asked.provider !== undefined || asked.apiMode !== undefined;
  return !isChosen && chooseDeployment(asked, environment, []) === offline;
}

function resolved(mode: ApiMode, endpoint: Endpoint, model: string): Resolution {
  return { ok: true, model: { mode, endpoint, model } };
}

function refused(message: string): Refusal {
  return { ok: false, message };
}

function withEnvironment(settings: ModelSettings, environment: Environment): ModelSettings {
  const variables = {
    provider: "HERMES_PROVIDER",
    model: "HERMES_MODEL",
    baseUrl: "HERMES_BASE_URL",
    apiMode: "HERMES_API_MODE",
    apiKey: "HERMES_API_KEY",
    dialect: "HERMES_DIALECT",
    textCalls: "HERMES_TEXT_CALLS",
  } as const satisfies Record<keyof Omit<ModelSettings, "keyVariable">, string>;
  const isOther = describesOtherProvider(settings.provider?.trim(), environment);
  const found = Object.entries(variables).map(([field, name]) => {
    const own = settings[field as keyof ModelSettings]?.trim(); // the fields are the keys of the literal above
    return [field, own || (isOther ? undefined : variable(environment, name))] as const;
  });
  const asked: ModelSettings = Object.fromEntries(found.filter(([, value]) => value !== undefined));
  const { provider, ...rest } = asked;
  return provider === undefined || provider === AUTOMATIC ? rest : asked;
}

/** HERMES_* variables describe one model together. With another provider, their address and key do not apply. */
function describesOtherProvider(provider: string | undefined, environment: Environment): boolean {
  if (!provider || provider === AUTOMATIC) return false;
  const named = variable(environment, "HERMES_PROVIDER");
  if (named !== undefined && named !== AUTOMATIC) return named !== provider;
  const baseUrl = variable(environment, "HERMES_BASE_URL");
  if (baseUrl !== undefined) return deploymentAt(baseUrl).name !== provider;
  // A key alone belongs to OpenAI or to a custom endpoint, never to a local server or a provider with its own variable.
  const known = deployments.find(({ name }) => name === provider);
  if (known === undefined || known === openai || known === custom) return false;
  return known.keyVariable === undefined || variable(environment, known.keyVariable) !== undefined;
}

function chooseDeployment(
  asked: ModelSettings,
  environment: Environment,
  available: readonly Deployment[],
): Deployment | Refusal {
  if (asked.provider !== undefined) return namedDeployment(asked.provider, asked.baseUrl, available);
  if (asked.apiMode === offline.mode) return offline;
  if (asked.apiMode === editor.mode) return available.find(({ name }) => name === editor.name) ?? editor;
  if (asked.baseUrl !== undefined) return deploymentAt(asked.baseUrl);
  const usable = deployments.filter(
    ({ keyVariable, urlVariable }) =>
      (variable(environment, keyVariable) ?? variable(environment, urlVariable)) !== undefined,
  );
  // A provider of the requested mode comes first, since others do not support the mode.
  const ofMode = (candidates: readonly Deployment[]): Deployment | undefined =>
    candidates.find(({ mode }) => mode === asked.apiMode);
  const found = ofMode(usable) ?? usable[0];
  if (asked.apiKey !== undefined) return ofMode(deployments) ?? openai;
  if (found !== undefined) return found;
  // A requested mode means that a model is wanted: an error about it is better than the offline interpreter.
  return asked.apiMode === undefined ? (available[0] ?? offline) : (ofMode(deployments) ?? openai);
}

function namedDeployment(
  name: string,
  baseUrl: string | undefined,
  available: readonly Deployment[],
): Deployment | Refusal {
  const known = [...available, ...deployments].find((deployment) => deployment.name === name);
  if (known !== undefined) return known;
  if (baseUrl !== undefined) return { ...custom, name };
  const names = deployments.map((deployment) => deployment.name).join(", ");
  return refused(
    `There is no provider ${JSON.stringify(name)}. Known providers: ${names}; any other needs HERMES_BASE_URL.`,
  );
}

function chooseMode(
  { apiMode, model }: ModelSettings,
  deployment: Deployment,
  baseUrl: string | undefined,
): ApiMode | Refusal {
  // Only this API keeps the reasoning of OpenAI's models between calls.
  const isResponses =
    deploymentAt(baseUrl ?? "") === openai && isOpenAiReasoningModel(model ?? deployment.defaultModel ?? "");
  const usual = isResponses ? "codex_responses" : deployment.mode;
  // The offline provider has no other mode.
  const wanted = deployment.mode === offline.mode ? offline.mode : (apiMode ?? usual);
  const mode = API_MODES.find((candidate) => candidate === wanted);
  return mode ?? refused(`There is no API mode ${JSON.stringify(wanted)}. There are ${API_MODES.join(", ")}.`);
}

function variable(environment: Environment, name: string | undefined): string | undefined {
  return (name === undefined ? undefined : environment[name]?.trim()) || undefined;
}
