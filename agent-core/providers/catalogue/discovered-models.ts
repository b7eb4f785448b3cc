/**
 * Discovers models that need no configuration: servers on this machine, on their usual loopback ports, and the editor's models.
 */
import { Deadline } from "../../platform/deadline.ts";
import { type Deployment, editor, llamacpp, lmstudio, ollama } from "../deployments.ts";
import type { EditorModels } from "../wire/wire.ts";
import { type ListedModel, listModels } from "./listing.ts";

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
