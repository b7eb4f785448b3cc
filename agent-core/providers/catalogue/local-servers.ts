/** Model servers on this machine: looked for on their usual ports, on the loopback only. */
import { Deadline } from "../../platform/deadline.ts";
import { type Deployment, llamacpp, lmstudio, ollama } from "../deployments.ts";
import { listModels } from "./list-models.ts";
import type { ListedModel } from "./listing.ts";

/** Whoever answers here: where it is, its first model as the default, and all it has. */
export type Found = { readonly deployment: Deployment; readonly models: readonly ListedModel[] };

/** All are asked at once, so that this is the whole wait. */
const PROBE_LIMIT_MS = 200;

/** In the order of preference when several answer. */
const servers: readonly Deployment[] = [ollama, lmstudio, llamacpp];

/** Whether this provider is a server on this machine, which costs nothing whatever its models are called. */
export function isLocalServer(provider: string): boolean {
  return servers.some(({ name }) => name === provider);
}

/** Those that answer within 200 ms and have a model. */
export async function findLocalServers(places: readonly Deployment[]): Promise<readonly Found[]> {
  const over = new AbortController();
  const answers = Promise.all(places.map((place) => ask(place, over.signal)));
  await new Deadline(PROBE_LIMIT_MS).waitFor(answers);
  over.abort();
  return (await answers).filter((answer) => answer !== undefined);
}

/**
 * Where to look, from HERMES_LOCAL_SERVERS: unset is the usual ports, `off` is nowhere, `ollama=41434,lmstudio=41234`
 * is these on these ports of the loopback and no others. Entries that are none of this are left out.
 */
export function localPlaces(setting: string | undefined): readonly Deployment[] {
  if (setting === undefined || setting.trim() === "") return servers;
  return setting.split(",").flatMap((entry) => {
    const [, name, port] = /^\s*(\w+)=(\d{1,5})\s*$/.exec(entry) ?? [];
    const server = servers.find((candidate) => candidate.name === name);
    return server === undefined ? [] : [{ ...server, baseUrl: `http://127.0.0.1:${port}/v1` }];
  });
}

async function ask(place: Deployment, signal: AbortSignal): Promise<Found | undefined> {
  const { name: provider, mode, baseUrl } = place;
  const listing = await listModels({ mode, endpoint: { provider, baseUrl, apiKey: undefined } }, signal);
  const first = listing.ok ? listing.models[0] : undefined;
  if (!listing.ok || first === undefined) return undefined;
  const models = listing.models.map((model) => ({ ...model, facts: { ...model.facts, price: undefined } }));
  return { deployment: { ...place, defaultModel: first.id }, models };
}
