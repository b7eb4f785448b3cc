/** The lists of models that endpoints gave, in memory and in the home, each no older than a day when it is used. */
import * as z from "zod";
import type { Endpoint } from "../wire/wire.ts";
import type { ListedModel } from "./listing.ts";

/** Where it is kept between two processes. */
export type CacheStore = {
  read(): Promise<unknown>;
  write(value: unknown): Promise<void>;
};

/** Older lists are asked for again. */
const FRESH_MS = 86_400_000;
/** Older ones are forgotten; until then they serve when the endpoint does not answer. */
const KEPT_MS = 604_800_000;
const VERSION = 1;

const price = z.object({ input: z.number(), output: z.number(), cachedInput: z.number() });
const facts = z.object({
  contextWindow: z.number().exactOptional(),
  maxOutputTokens: z.number().exactOptional(),
  images: z.boolean().exactOptional(),
  reasoning: z.boolean().exactOptional(),
  price: price.exactOptional(),
});
const model = z.object({ id: z.string(), name: z.string().exactOptional(), facts: facts.exactOptional() });
const fileSchema = z.object({
  version: z.literal(VERSION),
  lists: z.record(z.string(), z.object({ at: z.number(), models: z.array(model) })),
});

type List = { readonly at: number; readonly models: readonly ListedModel[] };

export class ListingCache {
  readonly #store: CacheStore;
  readonly #now: () => number;
  readonly #lists = new Map<string, List>();
  #loaded: Promise<void> | undefined;

  /** `now` in milliseconds since 1970. */
  constructor(store: CacheStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Takes in what an earlier process kept. True for the first call, which alone does something. */
  async load(): Promise<boolean> {
    const isFirst = this.#loaded === undefined;
    this.#loaded ??= this.#read();
    await this.#loaded;
    return isFirst;
  }

  /** Undefined when this endpoint has told nothing lately. */
  models(endpoint: Endpoint): readonly ListedModel[] | undefined {
    return this.#lists.get(keyOf(endpoint))?.models;
  }

  isFresh(endpoint: Endpoint): boolean {
    const list = this.#lists.get(keyOf(endpoint));
    return list !== undefined && this.#now() - list.at < FRESH_MS;
  }

  /** Rejects when the file cannot be written; in memory it is kept all the same. */
  async keep(endpoint: Endpoint, models: readonly ListedModel[]): Promise<void> {
    this.#lists.set(keyOf(endpoint), { at: this.#now(), models });
    await this.#store.write({ version: VERSION, lists: Object.fromEntries(this.#lists) });
  }

  /** Asks anew next time: another key may see other models. */
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

function keyOf({ provider, baseUrl }: Endpoint): string {
  return `${provider} ${baseUrl ?? ""}`;
}
