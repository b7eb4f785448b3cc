/**
 * Discovers models that need no configuration: servers on this machine, on their usual loopback ports, and the editor's
 * models.
 */
import * as z from "zod";
import { Deadline } from "../../platform/deadline.ts";
import { type Deployment, editor, llamacpp, lmstudio, ollama } from "../deployments.ts";
import type { ModelFacts } from "../model-info.ts";
import type { ResolvedModel } from "../resolve-model.ts";
import type { EditorModels } from "../wire/wire.ts";
import { askEndpoint } from "./ask-endpoint.ts";
import { type ListedModel, listModels, parseListing } from "./listing.ts";

/** A deployment, with its first model as the default, and all its models. */
export type DiscoveredModels = { readonly deployment: Deployment; readonly models: readonly ListedModel[] };

/** Limit for all servers together; they are asked at the same time. */
const PROBE_LIMIT_MS = 200;

/** Order of preference. */
const servers: readonly Deployment[] = [ollama, lmstudio, llamacpp];

/** True for a server on this machine, which is free of charge. */
export function isLocalServer(provider: string): boolean {
  return servers.some(({ name }) => name === provider);
}

/** Servers that answer within 200 ms and have a model. */
export async function discoverLocalServers(places: readonly Deployment[]): Promise<readonly DiscoveredModels[]> {
  const over = new AbortController();
  const answers = Promise.all(places.map((place) => askServer(place, over.signal)));
  await new Deadline(PROBE_LIMIT_MS).waitFor(answers);
  over.abort();
  return (await answers).filter((answer) => answer !== undefined);
}

/**
 * Servers to ask, from HERMES_LOCAL_SERVERS. Unset: the usual ports. `off`: none. `ollama=41434,lmstudio=41234`: only
 * these ports. Other entries are ignored.
 */
export function localPlaces(setting: string | undefined): readonly Deployment[] {
  if (setting === undefined || setting.trim() === "") return servers;
  return setting.split(",").flatMap((entry) => {
    const [, name, port] = /^\s*(\w+)=(\d{1,5})\s*$/.exec(entry) ?? [];
    const server = servers.find((candidate) => candidate.name === name);
    return server === undefined ? [] : [{ ...server, baseUrl: `http://127.0.0.1:${port}/v1` }];
  });
}

async function askServer(place: Deployment, signal: AbortSignal): Promise<DiscoveredModels | undefined> {
  const { name: provider, mode, baseUrl } = place;
  const listing = await listModels({ mode, endpoint: { provider, baseUrl, apiKey: undefined } }, signal);
  const first = listing.ok ? listing.models[0] : undefined;
  if (!listing.ok || first === undefined) return undefined;
  const models = listing.models.map((model) => ({ ...model, facts: { ...model.facts, price: undefined } }));
  return { deployment: { ...place, defaultModel: first.id }, models };
}

const DETAILS_TIMEOUT_MS = 2_000;

const positiveInteger = z.number().int().positive().optional().catch(undefined);

const ollamaSchema = z.object({
  /** Lines such as `num_ctx 8192`. */
  parameters: z.string().catch(""),
  /** `qwen3.context_length` and the like. */
  model_info: z.record(z.string(), z.unknown()).catch({}),
  capabilities: z.array(z.string()).optional().catch(undefined),
});

const llamacppSchema = z.object({
  default_generation_settings: z.object({ n_ctx: positiveInteger }).optional().catch(undefined),
  modalities: z.object({ vision: z.boolean().optional() }).optional().catch(undefined),
});

type Details = {
  readonly path: string;
  /** Body of a POST. Undefined: a GET. */
  readonly body?: (model: string) => object;
  facts(answer: unknown, model: string): ModelFacts | undefined;
};

const details: Readonly<Record<string, Details>> = {
  [ollama.name]: { path: "/api/show", body: (model) => ({ model }), facts: ollamaFacts },
  [llamacpp.name]: { path: "/props", facts: llamacppFacts },
  [lmstudio.name]: {
    path: "/api/v0/models",
    facts: (answer, model) => parseListing(answer)?.find(({ id }) => id === model)?.facts,
  },
};

/**
 * Facts that a local server gives per model, such as the real context. Undefined for other servers and without an
 * answer.
 */
export async function localDetails({ mode, endpoint, model }: ResolvedModel): Promise<ModelFacts | undefined> {
  const { provider, baseUrl } = endpoint;
  const place = Object.hasOwn(details, provider) ? details[provider] : undefined;
  if (place === undefined || baseUrl === undefined) return undefined;
  const url = `${baseUrl.replace(/\/v1\/?$/, "")}${place.path}`;
  const signal = AbortSignal.timeout(DETAILS_TIMEOUT_MS);
  const answer = await askEndpoint({ mode, endpoint }, url, {
    signal,
    ...(place.body && { body: place.body(model) }),
  });
  return answer.ok ? place.facts(answer.body, model) : undefined;
}

/** The user's `num_ctx` overrides the model's maximum. */
function ollamaFacts(answer: unknown): ModelFacts | undefined {
  const shown = ollamaSchema.safeParse(answer).data;
  if (shown === undefined) return undefined;
  const [, set] = /^num_ctx\s+(\d+)/m.exec(shown.parameters) ?? [];
  const possible = Object.entries(shown.model_info).find(([key]) => key.endsWith(".context_length"))?.[1];
  const contextWindow = positiveInteger.parse(set === undefined ? possible : Number(set));
  const { capabilities } = shown;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(capabilities !== undefined && {
      images: capabilities.includes("vision"),
      reasoning: capabilities.includes("thinking"),
    }),
  };
}

function llamacppFacts(answer: unknown): ModelFacts | undefined {
  const shown = llamacppSchema.safeParse(answer).data;
  if (shown === undefined) return undefined;
  const contextWindow = shown.default_generation_settings?.n_ctx;
  const vision = shown.modalities?.vision;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(vision !== undefined && { images: vision }),
  };
}

/**
 * An editor that is starting, or busy, answers late, and without its models the user would be asked for a key. A slower
 * list is dropped; the editor reports it later. Milliseconds.
 */
const LIMIT_MS = 1_000;

/** One group with the first model as its default; empty when the editor has none. Rejects when the request fails. */
export async function discoverEditorModels(models: EditorModels): Promise<readonly DiscoveredModels[]> {
  const over = new AbortController();
  const list = models.list(over.signal).catch((error: unknown) => {
    if (over.signal.aborted) return [];
    throw error;
  });
  await new Deadline(LIMIT_MS).waitFor(list);
  over.abort();
  const offered = await list;
  const [first] = offered;
  if (first === undefined) return [];
  return [
    {
      deployment: { ...editor, defaultModel: first.id },
      models: offered.map(({ id, name, maxInputTokens }) => ({
        id,
        name,
        ...(maxInputTokens > 0 && { facts: { contextWindow: maxInputTokens } }),
      })),
    },
  ];
}
