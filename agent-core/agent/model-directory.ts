/**
 * All models that the user can choose: of configured endpoints, the editor, local servers, and the built-in one. Lists
 * come from the home's cache and are refreshed in the background; no turn waits for them.
 */
import { isDeepStrictEqual } from "node:util";
import { type Environment, modelsFile } from "../config/home.ts";
import { readJsonFile, writeJsonFile } from "../config/home-file.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import type { HermesOffer } from "../protocol/settings.ts";
import {
  type DiscoveredModels,
  discoverLocalServers,
  isLocalServer,
  localPlaces,
} from "../providers/catalogue/discovered-models.ts";
import { type ListedModel, listModels } from "../providers/catalogue/listing.ts";
import { endpointKey, ListingCache } from "../providers/catalogue/listing-cache.ts";
import { editor, offline } from "../providers/deployments.ts";
import {
  choiceId,
  choiceOf,
  type ModelChoice,
  resolveChoice,
  type Source,
  sourcesOf,
} from "../providers/model-choice.ts";
import type { ModelFacts } from "../providers/model-info.ts";
import {
  type ModelSettings,
  namesNoModel,
  type Resolution,
  type ResolvedModel,
  resolveModel,
} from "../providers/resolve-model.ts";
import type { ConfiguredAgent, StatedFacts } from "./configured-agent.ts";

export type ModelGroup = {
  readonly provider: string;
  readonly title: string;
  readonly models: readonly ListedModel[];
  /** True when the provider listed its models; false when these are names from our own table. */
  readonly isListed: boolean;
};

/** Delay before the next request to an endpoint that returned no list. */
const PAUSE_AFTER_FAILURE_MS = 60_000;

export type ModelDirectoryOptions = {
  /** Hermes' home folder. */
  readonly home: string;
  readonly log: (line: string) => void;
  /** Lists the editor's models, which precede local servers. */
  readonly editorModels?: () => Promise<readonly DiscoveredModels[]>;
  readonly clock?: Clock;
};

export class ModelDirectory {
  readonly #options: ModelDirectoryOptions;
  readonly #clock: Clock;
  readonly #cache: ListingCache;
  /** Facts that local servers returned about single models, by choice id. */
  readonly #details = new Map<string, ModelFacts>();
  readonly #listeners = new Set<() => void>();
  /** Time of the last failure to list, by provider and address; milliseconds of the monotonic clock. */
  readonly #failures = new Map<string, number>();
  /** Message of the last failure that was logged, by title. */
  readonly #unlisted = new Map<string, string>();
  #environment: Environment = {};
  #endpoints: readonly ModelSettings[] = [];
  #stated: StatedFacts = { model: undefined, facts: {} };
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

  /** Uses a new configuration: the environment including `.env`, and endpoints and facts of config.yaml. */
  configure({
    options: { environment = {} },
    endpoints,
    stated,
  }: Pick<ConfiguredAgent, "options" | "endpoints" | "stated">): void {
    this.#environment = environment;
    this.#endpoints = endpoints;
    this.#stated = stated;
  }

  /** Calls `listener` when the models change. Returns a function that removes it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** True when the configuration names no model, so that a found one is used. */
  get namesNoModel(): boolean {
    return namesNoModel(this.#environment);
  }

  /** The model when the user chose none. Searches for models first when none is configured either. */
  async resolveDefault(): Promise<Resolution> {
    if (this.namesNoModel) await this.discover();
    return this.resolve(undefined);
  }

  /** Model and endpoint of a choice; without a choice, those of the configuration. */
  resolve(choice: ModelChoice | undefined): Resolution {
    const available = this.#found.map(({ deployment }) => deployment);
    return choice === undefined
      ? resolveModel({}, this.#environment, available)
      : resolveChoice(choice, this.#environment, { available, own: this.#endpoints });
  }

  /** Models by provider: the configured provider first, the built-in model last. */
  groups(): readonly ModelGroup[] {
    const configured = sourcesOf(this.#environment, this.#endpoints).map((source) => this.#groupOf(source));
    const found = this.#found.map(({ deployment: { name, title }, models }) => ({
      provider: name,
      title,
      models,
      isListed: true,
    }));
    const known = new Set(configured.map(({ provider }) => provider));
    const builtIn = { provider: offline.name, title: "Built in", models: [{ id: offline.name }], isListed: true };
    return [...configured, ...found.filter(({ provider }) => !known.has(provider)), builtIn];
  }

  /** Models that need no key: the default model of each provider that was found. */
  offers(): readonly HermesOffer[] {
    return this.#found.flatMap(({ deployment: { name, title, defaultModel }, models }) => {
      if (defaultModel === undefined) return [];
      const model = models.find(({ id }) => id === defaultModel)?.name ?? defaultModel;
      return [{ choice: choiceId({ provider: name, model: defaultModel }), provider: name, title, model }];
    });
  }

  /** Facts about a model from its endpoint, and those of config.yaml. */
  facts(model: ResolvedModel): ModelFacts {
    const { provider } = model.endpoint;
    const found = this.#found.find(({ deployment }) => deployment.name === provider && provider === editor.name);
    const listed = (found?.models ?? this.#cache.models(model.endpoint))?.find(({ id }) => id === model.model);
    const price = isLocalServer(provider) ? { price: undefined } : {};
    const stated = model.model === this.#stated.model ? this.#stated.facts : {};
    return { ...listed?.facts, ...this.#details.get(choiceId(choiceOf(model))), ...price, ...stated };
  }

  /** Keeps a limit that a provider named in a refusal, until its next list. */
  learn(model: ResolvedModel, limit: ModelFacts): void {
    const id = choiceId(choiceOf(model));
    this.#details.set(id, { ...this.#details.get(id), ...limit });
    this.#cache.amend(model.endpoint, model.model, limit).catch((error: unknown) => {
      this.#options.log(`The limit of ${model.model} could not be saved: ${String(error)}`);
    });
    this.#changed();
  }

  /** Finds the editor's models and servers on this machine. Takes a second at most, 200 ms without an editor that has models. */
  async discover(): Promise<void> {
    const { editorModels, log } = this.#options;
    const offered = editorModels?.().catch((error: unknown) => {
      log(`The editor's models could not be listed: ${String(error)}`);
      return [];
    });
    const local = discoverLocalServers(localPlaces(this.#environment["HERMES_LOCAL_SERVERS"]));
    const found = [...((await offered) ?? []), ...(await local)];
    const hasChanged = JSON.stringify(found) !== JSON.stringify(this.#found);
    this.#found = found;
    if (hasChanged) this.#changed();
  }

  /** Requests missing and outdated lists from the endpoints. Never rejects. */
  async refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshLists().finally(() => {
      this.#refreshing = undefined;
    });
    try {
      await this.#refreshing;
    } catch (error) {
      this.#options.log(`The list of models could not be refreshed: ${String(error)}`);
    }
  }

  /** Drops the list of a provider whose key has changed. */
  forget(provider: string): void {
    this.#cache.forget(provider);
    this.#failures.clear();
  }

  /**
   * Requests facts about `model` from a local server; other providers include them in their lists. A server knows the real
   * window once it has loaded the model. Never rejects.
   */
  async loadDetails(model: ResolvedModel): Promise<void> {
    const id = choiceId(choiceOf(model));
    if (!isLocalServer(model.endpoint.provider)) return;
    const { localDetails } = await import("../providers/catalogue/local-details.ts");
    const facts = await localDetails(model);
    if (facts === undefined || isDeepStrictEqual(facts, this.#details.get(id))) return;
    this.#details.set(id, facts);
    this.#changed();
  }

  #groupOf({ endpoint, title, knownModels, configuredModel }: Source): ModelGroup {
    const listed = this.#cache.models(endpoint);
    const known = knownModels.map((id): ListedModel => ({ id }));
    const all = listed === undefined ? known : bestFirst(listed, knownModels);
    const isMissing = configuredModel !== undefined && !all.some(({ id }) => id === configuredModel);
    const models = isMissing ? [{ id: configuredModel }, ...all] : all;
    return { provider: endpoint.provider, title, models, isListed: listed !== undefined };
  }

  async #refreshLists(): Promise<void> {
    const isFirst = await this.#cache.load();
    const old = sourcesOf(this.#environment, this.#endpoints).filter((source) => this.#isDue(source));
    const listings = await Promise.all(old.map(async (source) => ({ source, listing: await listModels(source) })));
    for (const { source, listing } of listings) {
      if (listing.ok) await this.#save(source, listing.models);
      else this.#failed(source, listing.fault.message);
    }
    if (old.length > 0 || isFirst) this.#changed();
  }

  #isDue({ endpoint }: Source): boolean {
    const failedAt = this.#failures.get(endpointKey(endpoint));
    const isPaused = failedAt !== undefined && this.#clock.monotonicNow() - failedAt < PAUSE_AFTER_FAILURE_MS;
    return !isPaused && !this.#cache.isFresh(endpoint);
  }

  #failed({ title, endpoint }: Source, message: string): void {
    this.#failures.set(endpointKey(endpoint), this.#clock.monotonicNow());
    if (this.#unlisted.get(title) === message) return;
    this.#unlisted.set(title, message);
    this.#options.log(`Models of ${title} could not be listed: ${message}`);
  }

  async #save({ endpoint }: Source, models: readonly ListedModel[]): Promise<void> {
    try {
      await this.#cache.keep(endpoint, models);
    } catch (error) {
      this.#options.log(`The list of models could not be saved: ${String(error)}`);
    }
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Moves the known models to the front and keeps the endpoint's order of the others. */
function bestFirst(models: readonly ListedModel[], known: readonly string[]): readonly ListedModel[] {
  const head = known.flatMap((id) => models.find((model) => model.id === id) ?? []);
  return [...head, ...models.filter((model) => !head.includes(model))];
}
