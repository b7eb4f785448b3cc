/** Cache of the endpoints' model lists, in memory and in the home. Lists in use are at most one day old. */
import * as z from "zod";
import type { ModelFacts } from "../model-info.ts";
import type { Endpoint } from "../wire/wire.ts";
import { type ListedModel, listedModel } from "./listing.ts";

/** Storage between two processes. */
export type CacheStore = {
  read(): Promise<unknown>;
  write(value: unknown): Promise<void>;
};

/** Older lists are requested again. */
const FRESH_MS = 86_400_000;
/** Older lists are dropped. Until then they serve when the provider does not answer. */
const KEPT_MS = 604_800_000;
const VERSION = 1;

const fileSchema = z.object({
  version: z.literal(VERSION),
  lists: z.record(z.string(), z.object({ at: z.number(), models: z.array(listedModel) })),
});

type List = { readonly at: number; readonly models: readonly ListedModel[] };

export class ListingCache {
  readonly #store: CacheStore;
  readonly #now: () => number;
  readonly #lists = new Map<string, List>();
  #loaded: Promise<void> | undefined;

  /** `now`: milliseconds since 1970. */
  constructor(store: CacheStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Reads the lists of an earlier process. Returns true on the first call, which alone reads. */
  async load(): Promise<boolean> {
    const isFirst = this.#loaded === undefined;
    this.#loaded ??= this.#read();
    await this.#loaded;
    return isFirst;
  }

  /** Undefined without a recent list of this endpoint. */
  models(endpoint: Endpoint): readonly ListedModel[] | undefined {
    return this.#lists.get(endpointKey(endpoint))?.models;
  }

  isFresh(endpoint: Endpoint): boolean {
    const list = this.#lists.get(endpointKey(endpoint));
    return list !== undefined && this.#now() - list.at < FRESH_MS;
  }

  /** Keeps a list. Rejects when the file cannot be written; memory has the list anyway. */
  async keep(endpoint: Endpoint, models: readonly ListedModel[]): Promise<void> {
    this.#lists.set(endpointKey(endpoint), { at: this.#now(), models });
    await this.#write();
  }

  /** Adds facts to a model of a list; the next list drops them. Rejects as `keep`. */
  async amend(endpoint: Endpoint, id: string, added: ModelFacts): Promise<void> {
    const list = this.#lists.get(endpointKey(endpoint));
    if (list === undefined) return;
    const models = list.models.map((each) => (each.id === id ? { ...each, facts: { ...each.facts, ...added } } : each));
    this.#lists.set(endpointKey(endpoint), { at: list.at, models });
    await this.#write();
  }

  #write(): Promise<void> {
    return this.#store.write({ version: VERSION, lists: Object.fromEntries(this.#lists) });
  }

  /** Drops a provider's lists, because another key may see other models. */
  forget(provider: string): void {
    for (const key of this.#lists.keys()) if (key.startsWith(`${provider} `)) this.#lists.delete(key);
  }

  async #read(): Promise<void> {
    const file = fileSchema.safeParse(await this.#store.read()).data;
    for (const [key, list] of Object.entries(file?.lists ?? {})) {
      const age = this.#now() - list.at;
      if (age >= 0 && age < KEPT_MS && !this.#lists.has(key)) this.#lists.set(key, list);
    }
  }
}

export function endpointKey({ provider, baseUrl }: Endpoint): string {
  return `${provider} ${baseUrl ?? ""}`;
}
