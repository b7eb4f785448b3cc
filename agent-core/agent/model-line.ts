/** How an agent reaches its models: what a persistent call may do besides asking. */
import type { Environment } from "../config/home.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { Adaptations } from "../providers/call/adaptations.ts";
import type { ModelRoute } from "../providers/call/call-model.ts";
import type { ModelChain } from "../providers/call/model-chain.ts";
import { type ResolvedModel, resolveModel } from "../providers/resolve.ts";
import type { EditorModels } from "../providers/wire/wire.ts";

/** Longest silence of a stream, in milliseconds; behaviour.md §API modes, Faults. */
const SILENCE_MS = 60_000;

export type ModelLineOptions = {
  readonly clock?: Clock;
  readonly editorModels?: EditorModels;
  readonly silenceMs?: (provider: string) => number | undefined;
  readonly refreshEnvironment?: () => Promise<Environment>;
};

/** `shorten` gives a shorter conversation when the provider refuses one as too long; undefined when there is none. */
export function modelLine(
  options: ModelLineOptions,
  chain: ModelChain,
  shorten: ModelRoute["shorten"] = () => Promise.resolve(undefined),
): ModelRoute {
  const { clock = systemClock, editorModels, silenceMs, refreshEnvironment } = options;
  return {
    chain,
    adaptations: new Adaptations(),
    clock,
    editorModels,
    silenceMs: ({ endpoint }) => silenceMs?.(endpoint.provider) ?? SILENCE_MS,
    refreshKey: async (model) => refreshEnvironment && withNewKey(model, await refreshEnvironment()),
    shorten,
  };
}

/** Undefined when the environment holds no other key than the one that was refused. */
function withNewKey(
  model: ResolvedModel,
  environment: Readonly<Record<string, string | undefined>>,
): ResolvedModel | undefined {
  const { provider, baseUrl, apiKey } = model.endpoint;
  const settings = { provider, model: model.model, apiMode: model.mode, ...(baseUrl !== undefined && { baseUrl }) };
  const again = resolveModel(settings, environment);
  const fresh = again.ok ? again.model.endpoint.apiKey : undefined;
  return fresh === undefined || fresh === apiKey
    ? undefined
    : { ...model, endpoint: { ...model.endpoint, apiKey: fresh } };
}
