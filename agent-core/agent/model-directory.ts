/**
 * Every model that can be chosen here: of the configured endpoints, of the editor, of servers on this machine, and the
 * built-in one. Lists come in the background and from the home's cache; no turn waits for them.
 */
import { type Environment, modelsFile } from "../config/home.ts";
import { readJsonFile, writeJsonFile } from "../config/home-file.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import {
  type DiscoveredModels,
  discoverLocalServers,
  isLocalServer,
  localDetails,
  localPlaces,
} from "../providers/catalogue/discovered-models.ts";
import { type ListedModel, listModels } from "../providers/catalogue/listing.ts";
import { ListingCache } from "../providers/catalogue/listing-cache.ts";
import { choiceId, choiceOf, type ModelChoice, resolveChoice, type Source, sourcesOf } from "../providers/choice.ts";
import { editor, offline } from "../providers/deployments.ts";
import type { ModelFacts } from "../providers/model-info.ts";
import {
  type ModelSettings,
  namesNoModel,
  type Resolution,
  type ResolvedModel,
  resolveModel,
} from "../providers/resolve.ts";
import type { Endpoint } from "../providers/wire/wire.ts";
import type { ConfiguredAgent } from "./configured-agent.ts";

/** The models of one provider. */
export type ModelGroup = {
  readonly provider: string;
  readonly title: string;
  readonly models: readonly ListedModel[];
  /** It told itself what it has; otherwise these are the names we know. */
  readonly told: boolean;
};

/** A model that can be used at once; `choice` is its id, the rest are words for people. */
export type ModelOffer = {
  readonly choice: string;
  readonly provider: string;
  readonly title: string;
  readonly model: string;
};

/** An endpoint that gave no list is left alone for this long. */
const PAUSE_AFTER_FAILURE_MS = 60_000;

export type ModelDirectoryOptions = {
  /** Hermes' home folder. */
  readonly home: string;
  /** One line for the log. */
  readonly log: (line: string) => void;
  /** Models that the editor offers; they stand before local servers. */
  readonly editorModels?: () => Promise<readonly DiscoveredModels[]>;
  readonly clock?: Clock;
};

export class ModelDirectory {
  readonly #options: ModelDirectoryOptions;
  readonly #clock: Clock;
  readonly #cache: ListingCache;
  /** What local servers told of single models, by choice id. */
  readonly #details = new Map<string, ModelFacts>();
  readonly #listeners = new Set<() => void>();
  /** When an endpoint last gave no list, by provider and address; milliseconds of the monotonic clock. */
  readonly #failures = new Map<string, number>();
  #environment: Environment = {};
  #places: readonly ModelSettings[] = [];
  #found: readonly DiscoveredModels[] = [];
  #refreshing: Promise<void> | undefined;

  constructor(options: ModelDirectoryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const path = modelsFile(options.home);
    this.#cache = new ListingCache(
      { read: () => readJsonFile(path), write: (value) => writeJsonFile(path, value) },
      () => this.#clock.now(),
    );
  }

  /** Takes in what the configuration now says: the environment with `.env` in it, and what config.yaml describes. */
  configure({ options: { environment = {} }, places }: Pick<ConfiguredAgent, "options" | "places">): void {
    this.#environment = environment;
    this.#places = places;
  }

  /** Tells `listener` when there is more or else to choose from; gives the way to stop it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True when nothing says which model to use, so that what was found is used. */
  get namesNoModel(): boolean {
    return namesNoModel(this.#environment);
  }

  /** The model when nothing was chosen. Only when nothing is configured either, it looks at what answers here. */
  async automatic(): Promise<Resolution> {
    if (this.namesNoModel) await this.discover();
    return this.resolve(undefined);
  }

  /** How a choice is reached; without one, what the configuration says. */
  resolve(choice: ModelChoice | undefined): Resolution {
    const available = this.#found.map(({ deployment }) => deployment);
    return choice === undefined
      ? resolveModel({}, this.#environment, available)
      : resolveChoice(choice, this.#environment, { available, own: this.#places });
  }

  /** The configured provider first, the built-in model last. */
  groups(): readonly ModelGroup[] {
    const configured = sourcesOf(this.#environment, this.#places).map((source) => this.#groupOf(source));
    const found = this.#found.map(({ deployment: { name, title }, models }) => ({
      provider: name,
      title,
      models,
      told: true,
    }));
    const known = new Set(configured.map(({ provider }) => provider));
    const builtIn = { provider: offline.name, title: "Built in", models: [{ id: offline.name }], told: true };
    return [...configured, ...found.filter(({ provider }) => !known.has(provider)), builtIn];
  }

  /** What can be used here at once, without a key: one model of each that was found. */
  offers(): readonly ModelOffer[] {
    return this.#found.flatMap(({ deployment: { name, title, defaultModel }, models }) => {
      if (defaultModel === undefined) return [];
      const model = models.find(({ id }) => id === defaultModel)?.name ?? defaultModel;
      return [{ choice: choiceId({ provider: name, model: defaultModel }), provider: name, title, model }];
    });
  }

  /** What its endpoint says of a model. */
  facts(model: ResolvedModel): ModelFacts {
    const { provider } = model.endpoint;
    const found = this.#found.find(({ deployment }) => deployment.name === provider && provider === editor.name);
    const listed = (found?.models ?? this.#cache.models(model.endpoint))?.find(({ id }) => id === model.model);
    const price = isLocalServer(provider) ? { price: undefined } : {};
    return { ...listed?.facts, ...this.#details.get(choiceId(choiceOf(model))), ...price };
  }

  /** Looks for what answers here: the editor's models, and servers on this machine. Takes 200 ms at most. */
  async discover(): Promise<void> {
    const { editorModels, log } = this.#options;
    const offered = editorModels?.().catch((error: unknown) => {
      log(`The editor's models could not be listed: ${String(error)}`);
      return [];
    });
    const local = discoverLocalServers(localPlaces(this.#environment["HERMES_LOCAL_SERVERS"]));
    const found = [...((await offered) ?? []), ...(await local)];
    const isNews = JSON.stringify(found) !== JSON.stringify(this.#found);
    this.#found = found;
    if (isNews) this.#changed();
  }

  /** Asks the endpoints for their lists where they are missing or old. Never rejects. */
  async refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshLists().finally(() => {
      this.#refreshing = undefined;
    });
    try {
      await this.#refreshing;
    } catch (error) {
      this.#options.log(`The list of models could not be brought up to date: ${String(error)}`);
    }
  }

  /** What a provider told belongs to a key that is no longer its key. */
  forget(provider: string): void {
    this.#cache.forget(provider);
    this.#failures.clear();
  }

  /** Asks a local server what it gives `model`; others have told with their list. Never rejects. */
  async learn(model: ResolvedModel): Promise<void> {
    const id = choiceId(choiceOf(model));
    if (this.#details.has(id)) return;
    const facts = await localDetails(model);
    if (facts === undefined) return;
    this.#details.set(id, facts);
    this.#changed();
  }

  #groupOf({ endpoint, title, knownModels }: Source): ModelGroup {
    const told = this.#cache.models(endpoint);
    const known = knownModels.map((id): ListedModel => ({ id }));
    const models = told === undefined ? known : bestFirst(told, knownModels);
    return { provider: endpoint.provider, title, models, told: told !== undefined };
  }

  async #refreshLists(): Promise<void> {
    const isFirst = await this.#cache.load();
    const old = sourcesOf(this.#environment, this.#places).filter((source) => this.#isDue(source));
    const listings = await Promise.all(old.map(async (source) => ({ source, listing: await listModels(source) })));
    for (const { source, listing } of listings) {
      if (listing.ok) await this.#keep(source, listing.models);
      else this.#failed(source, listing.fault.message);
    }
    if (old.length > 0 || isFirst) this.#changed();
  }

  #isDue({ endpoint }: Source): boolean {
    const failedAt = this.#failures.get(placeOf(endpoint));
    const isPaused = failedAt !== undefined && this.#clock.monotonicNow() - failedAt < PAUSE_AFTER_FAILURE_MS;
    return !isPaused && !this.#cache.isFresh(endpoint);
  }

  #failed({ title, endpoint }: Source, message: string): void {
    this.#failures.set(placeOf(endpoint), this.#clock.monotonicNow());
    this.#options.log(`Models of ${title} could not be listed: ${message}`);
  }

  async #keep({ endpoint }: Source, models: readonly ListedModel[]): Promise<void> {
    try {
      await this.#cache.keep(endpoint, models);
    } catch (error) {
      this.#options.log(`The list of models is not kept: ${String(error)}`);
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Those worth offering at the head, everything else in the endpoint's own order. */
function bestFirst(models: readonly ListedModel[], known: readonly string[]): readonly ListedModel[] {
  const head = known.flatMap((id) => models.find((model) => model.id === id) ?? []);
  return [...head, ...models.filter((model) => !head.includes(model))];
}

function placeOf({ provider, baseUrl }: Endpoint): string {
  return `${provider} ${baseUrl ?? ""}`;
}
