/** A user's choice of a model: provider and name, one id for both, and the endpoints to choose from. */
import { type Deployment, deployments, offline } from "./deployments.ts";
import type { Place } from "./endpoint-request.ts";
import { type ModelSettings, type Resolution, type ResolvedModel, resolveModel } from "./resolve-model.ts";

export type ModelChoice = { readonly provider: string; readonly model: string };

/** `openai:gpt-4.1`, `ollama:qwen3:8b`; `offline` alone for the built-in interpreter. */
export function choiceId({ provider, model }: ModelChoice): string {
  return provider === offline.name ? offline.name : `${provider}:${model}`;
}

/** Undefined when `id` is not such an id. */
export function parseChoice(id: string): ModelChoice | undefined {
  if (id === offline.name) return { provider: offline.name, model: offline.name };
  const colon = id.indexOf(":");
  if (colon <= 0 || colon === id.length - 1) return undefined;
  return { provider: id.slice(0, colon), model: id.slice(colon + 1) };
}

export function choiceOf({ endpoint, model }: ResolvedModel): ModelChoice {
  return { provider: endpoint.provider, model };
}

/** Endpoints known besides the environment. */
export type Places = {
  /** Discovered deployments (see `resolveModel`). */
  readonly available: readonly Deployment[];
  /** Endpoints from the configuration, by provider name. */
  readonly own: readonly ModelSettings[];
};

/**
 * Access to the chosen model: from the environment if it names this provider, else from the configuration, else with
 * the provider's own key.
 */
export function resolveChoice(
  { provider, model }: ModelChoice,
  environment: Readonly<Record<string, string | undefined>>,
  { available, own }: Places,
): Resolution {
  const configured = resolveModel({ model }, environment, available);
  if (configured.ok && configured.model.endpoint.provider === provider) return configured;
  const described = own.find((place) => place.provider === provider);
  return resolveModel({ ...described, provider, model }, environment, available);
}

/** Settings that resolve to the same model in any environment. */
export function settingsOf({
  mode,
  endpoint,
  model,
}: ResolvedModel): ModelSettings & { readonly apiMode: typeof mode } {
  const { provider, baseUrl, apiKey, dialect, textCalls } = endpoint;
  return {
    provider,
    model,
    apiMode: mode,
    baseUrl,
    apiKey,
    dialect,
    textCalls,
  };
}

/** An endpoint whose models the user can choose. */

export type Source = Place & {
  readonly title: string;
  readonly knownModels: readonly string[];
  /** Model of the configuration, also where the endpoint does not list it. */
  readonly configuredModel: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The configured endpoint first, then the described ones, then all with a key. Local servers and the editor are
 * discovered, not configured.
 */
export function sourcesOf(environment: Environment, own: readonly ModelSettings[]): readonly Source[] {
  const configured = resolveModel({}, environment);
  const sources: Source[] = [];
  const add = ({ mode, endpoint }: Place, configuredModel?: string): void => {
    if (mode === offline.mode || endpoint.baseUrl === undefined) return;
    if (sources.some((source) => source.endpoint.provider === endpoint.provider)) return;
    const known = deployments.find(({ name }) => name === endpoint.provider);
    const title = known?.title ?? endpoint.provider;
    sources.push({ mode, endpoint, title, knownModels: known?.knownModels ?? [], configuredModel });
  };
  const addOf = (settings: ModelSettings): void => {
    // The model only fills a required field; the endpoint is the result.
    const resolution = resolveModel({ ...settings, model: settings.model ?? "any" }, environment);
    if (resolution.ok) add(resolution.model);
  };
  if (configured.ok) add(configured.model, configured.model.model);
  for (const place of own) addOf(place);
  for (const { name, keyVariable, defaultModel } of deployments) {
    if (keyVariable === undefined || !environment[keyVariable]?.trim()) continue;
    addOf({ provider: name, model: defaultModel });
  }
  return sources;
}
