/** Models of an agent: the conversation's, those of auxiliary tasks, and the ledger of their usage. */
import type { Environment } from "../config/home.ts";
import type { Message } from "../messages/message.ts";
import { repairMessages } from "../messages/repair.ts";
import { systemClock } from "../platform/clock.ts";
import { Adaptations } from "../providers/call/adaptations.ts";
import { type CallEvent, type CallRequest, callModel, type ModelRoute } from "../providers/call/call-model.ts";
import { ModelChain } from "../providers/call/model-chain.ts";
import { modelInfo } from "../providers/model-info.ts";
import { type ModelSettings, type ResolvedModel, resolveModel } from "../providers/resolve-model.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import { UsageLedger } from "../sessions/usage-ledger.ts";
import type { Tool } from "../tools/tool.ts";
import type { AIAgentOptions } from "./agent-options.ts";
import { Auxiliary } from "./auxiliary.ts";

/** One call of the conversation's model. `offered`: the tools that the model may call. */
type OpenCall = Pick<CallRequest, "messages"> & Pick<CallRequest, "onOverflow"> & { readonly offered: readonly Tool[] };

/** Opens one model call. */
export type ModelCaller = (call: OpenCall, signal: AbortSignal) => AsyncIterable<CallEvent>;

/** Throws an Error in one line when the conversation's model does not exist. */
export function setUpModels(options: AIAgentOptions, environment: Environment) {
  const resolvable = (settings: ModelSettings): ResolvedModel | undefined => {
    const resolution = resolveModel(settings, environment);
    return resolution.ok ? resolution.model : undefined;
  };
  const fallbacks = (options.fallbacks ?? []).map(resolvable).filter((model) => model !== undefined);
  const models = new ModelChain(resolved(options, environment), fallbacks);
  const route = modelRoute(options, models);
  const modelFacts = options.modelFacts ?? (() => ({}));
  const ledger = new UsageLedger(options.entries ?? [], {
    priceOf: (model) => modelInfo(model.model, modelFacts(model)).price,
    journal: (entry) => options.journal?.append(entry),
  });
  const auxiliary = new Auxiliary({
    tasks: options.auxiliary ?? {},
    resolve: resolvable,
    routeTo: (first, others) => modelRoute(options, new ModelChain(first, others)),
    onUsage: (usage, model) => ledger.addAuxiliary(usage, model),
    main: route,
  });
  return { models, route, modelFacts, ledger, auxiliary };
}

/** Opens the calls of the conversation's model. `sampling` is read at each call. */
export function modelCaller(
  { prefillMessages: prefill = [] }: AIAgentOptions,
  route: ModelRoute,
  sampling: () => Sampling,
): ModelCaller {
  return ({ messages, offered, onOverflow }, signal) => {
    const request = { tools: offered.map((tool) => tool.schema), sampling: sampling() };
    if (prefill.length === 0)
      return callModel({ ...request, messages, ...(onOverflow && { onOverflow }) }, route, signal);
    const shorten = async (...refusal: Parameters<NonNullable<typeof onOverflow>>) => {
      const shorter = await onOverflow?.(...refusal);
      return shorter && withPrefill(shorter, prefill);
    };
    return callModel({ ...request, messages: withPrefill(messages, prefill), onOverflow: shorten }, route, signal);
  };
}

/** Adds the prefill after the system prompt, so that the start of all requests stays the same. */
function withPrefill(messages: readonly Message[], prefill: readonly Message[]): readonly Message[] {
  const start = messages[0]?.role === "system" ? 1 : 0;
  return repairMessages([...messages.slice(0, start), ...prefill, ...messages.slice(start)]);
}

/** Throws an Error in one line when there is no such model. */
export function resolved(settings: ModelSettings, environment: Environment): ResolvedModel {
  const { model, provider, baseUrl, apiMode, apiKey } = settings;
  const resolution = resolveModel(
    {
      ...(model !== undefined && { model }),
      ...(provider !== undefined && { provider }),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(apiMode !== undefined && { apiMode }),
      ...(apiKey !== undefined && { apiKey }),
    },
    environment,
  );
  if (!resolution.ok) throw new Error(resolution.message);
  return resolution.model;
}

/** Idle timeout of a stream in milliseconds. A living server sends something within a minute. */
const IDLE_MS = 60_000;
/** Most outages and rate limits are over within minutes. A longer wait is the user's decision. Milliseconds. */
const RETRY_MS = 300_000;

/** Access to the models of `chain`, with the agent's clock, keys and timeouts. */
function modelRoute(options: AIAgentOptions, chain: ModelChain): ModelRoute {
  const { clock = systemClock, editorModels, silenceMs, extraBody, retryMs = RETRY_MS, refreshEnvironment } = options;
  return {
    chain,
    adaptations: new Adaptations(),
    clock,
    editorModels,
    retryMs,
    acceptsImages: (model) => modelInfo(model.model, options.modelFacts?.(model)).images,
    extraBody: ({ endpoint }) => extraBody?.(endpoint.provider) ?? {},
    silenceMs: ({ endpoint }) => silenceMs?.(endpoint.provider) ?? IDLE_MS,
    refreshKey: async (model) => refreshEnvironment && withNewKey(model, await refreshEnvironment()),
  };
}

/** The model with the environment's key. Undefined when that is the refused one. */
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
