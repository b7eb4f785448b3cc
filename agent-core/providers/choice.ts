/** A model as it is chosen from a list: provider and name, and one word for both. */
import { type Deployment, offline } from "./deployments.ts";
import { type ModelSettings, type Resolution, type ResolvedModel, resolveModel } from "./resolve.ts";

export type ModelChoice = { readonly provider: string; readonly model: string };

/** `openai:gpt-4.1`, `ollama:qwen3:8b`; `offline` alone for the built-in interpreter. */
export function choiceId({ provider, model }: ModelChoice): string {
  return provider === offline.name ? offline.name : `${provider}:${model}`;
}

/** Undefined when `id` is none. */
export function parseChoice(id: string): ModelChoice | undefined {
  if (id === offline.name) return { provider: offline.name, model: offline.name };
  const colon = id.indexOf(":");
  if (colon <= 0 || colon === id.length - 1) return undefined;
  return { provider: id.slice(0, colon), model: id.slice(colon + 1) };
}

export function choiceOf({ endpoint, model }: ResolvedModel): ModelChoice {
  return { provider: endpoint.provider, model };
}

/** What is known of places beside the environment. */
export type Places = {
  /** What was found to answer here (see `resolveModel`). */
  readonly available: readonly Deployment[];
  /** Endpoints that the configuration describes, by their provider's name. */
  readonly own: readonly ModelSettings[];
};

/**
 * How the chosen model is reached: as the environment says where it speaks of this provider, else as the configuration
 * describes it, else by its own key.
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

/** Everything that was resolved, so that resolving it again gives the same model in any environment. */
export function settingsOf({
  mode,
  endpoint,
  model,
}: ResolvedModel): ModelSettings & { readonly apiMode: typeof mode } {
  const { provider, baseUrl, apiKey } = endpoint;
  return {
    provider,
    model,
    apiMode: mode,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(apiKey !== undefined && { apiKey }),
  };
}
