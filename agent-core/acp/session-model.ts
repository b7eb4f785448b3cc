/** The model of one session: the user's choice, the model in use, and the options that editors show. */
import { isDeepStrictEqual } from "node:util";
import type { SessionConfigOption } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../agent/ai-agent.ts";
import type { ModelDirectory, ModelGroup } from "../agent/model-directory.ts";
import type { HermesModelMeta } from "../protocol/attachments.ts";
import { failure } from "../protocol/handle.ts";
import { choiceId, choiceOf, type ModelChoice, parseChoice } from "../providers/model-choice.ts";
import { modelInfo, refusesImages } from "../providers/model-info.ts";
import type { ResolvedModel } from "../providers/resolve-model.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import type { NewEntry } from "../sessions/journal.ts";
import {
  type ChosenEffort,
  DEFAULT_EFFORT,
  type Effort,
  effortOf,
  effortOption,
  modelOption,
} from "./config-options.ts";
import { findModel } from "./find-model.ts";
import { authRequired } from "./request-errors.ts";

/** The lists load after this delay: they would slow down the start of a session and its first prompt. Milliseconds. */
const REFRESH_DELAY_MS = 100;

/** Limit of names in the error for an ambiguous name. */
const MAX_NAMED = 5;

export type SessionModelOptions = {
  readonly directory: ModelDirectory;
  /** Model until the agent exists, and the choices until the user makes others. */
  readonly starting: StartingModel;
  readonly agent: () => AIAgent | undefined;
  /** Makes the agent unless it exists. */
  readonly makeAgent: () => AIAgent;
  /** The journal already has the choice. */
  readonly isRecorded: boolean;
  /** Value of config.yaml, until the user chooses one. */
  readonly configuredEffort: Sampling["reasoningEffort"];
  record(entry: NewEntry): void;
  /** The options differ from those of the last call. */
  onChange(): void;
};

export class SessionModel {
  readonly #options: SessionModelOptions;
  readonly #stopListening: () => void;
  #chosen: ModelChoice | undefined;
  #isRecorded: boolean;
  #effort: ChosenEffort | undefined;
  /** The options as the client has them, as JSON. */
  #shown: string;

  constructor(options: SessionModelOptions) {
    this.#options = options;
    this.#chosen = options.starting.chosen;
    this.#isRecorded = options.isRecorded;
    this.#effort = options.starting.effort;
    this.#stopListening = options.directory.onChange(() => this.announce());
    this.#shown = JSON.stringify(this.options);
  }

  /** Applies the effort to an agent that was just made. */
  attach(agent: AIAgent): void {
    const { setup } = agent;
    setup.sampling = { ...setup.sampling, reasoningEffort: this.#effortOf(setup.models.current) };
  }

  /** Options for the client: the model, and the effort of a reasoning model. */
  get options(): readonly SessionConfigOption[] {
    const { directory } = this.#options;
    const hermes: HermesModelMeta = { refusesImages: true };
    const facts = directory.facts(this.#model);
    const model: SessionConfigOption = {
      ...modelOption(this.current, directory.groups()),
      ...(refusesImages(this.#model, facts) && { _meta: { hermes } }),
    };
    return this.#reasons(this.#model) ? [model, effortOption(this.#wantedEffort())] : [model];
  }

  /** The model in use: the chosen one or its fallback. */
  get current(): ModelChoice {
    return choiceOf(this.#model);
  }

  get #model(): ResolvedModel {
    return this.#options.agent()?.setup.models.current ?? this.#options.starting.resolved;
  }

  /** All models, including those of servers on this machine. */
  async all(): Promise<readonly ModelGroup[]> {
    const { directory } = this.#options;
    await Promise.all([directory.refresh(), directory.discover()]);
    return directory.groups();
  }

  /** Chooses the model that a name means (`findModel`), for the next model call. Returns the problem, in one line. */
  async chooseNamed(name: string): Promise<string | undefined> {
    const choice = parseChoice(name);
    if (choice !== undefined && this.#isListed(choice)) return this.choose(choice); // needs no other lists
    const found = findModel(name, await this.all(), this.current);
    switch (found.kind) {
      case "one":
        return this.choose(found.choice);
      case "several": {
        const { length } = found.choices;
        const names = found.choices.slice(0, MAX_NAMED).map(choiceId).join(", ");
        return `${length} models match ${JSON.stringify(name)}: ${names}${length > MAX_NAMED ? ", …" : ""}`;
      }
      case "none":
        return `there is no model ${JSON.stringify(name)}; /model lists the available models`;
    }
  }

  /** Chooses any model, for the next model call. Returns the problem, in one line. */
  choose(choice: ModelChoice): string | undefined {
    const resolution = this.#options.directory.resolve(choice);
    if (!resolution.ok) return resolution.message;
    this.#chosen = choice;
    this.#options.makeAgent().setup.models.choose(resolution.model);
    this.#isRecorded = false;
    this.record();
    this.announce();
    this.refresh();
    return undefined;
  }

  /** Writes the choice into the journal once. A new session does so with its first turn. */
  record(): void {
    if (this.#isRecorded || this.#chosen === undefined) return;
    this.#isRecorded = true;
    this.#options.record({ type: "model", choice: choiceId(this.#chosen) });
  }

  /** Sets the reasoning effort for the next model call. Returns the problem, in one line. */
  setEffort(value: string): string | undefined {
    const effort = effortOf(value);
    if (effort === undefined) return `${JSON.stringify(value)} is not a reasoning effort`;
    this.#effort = effort;
    this.#options.record({ type: "reasoning-effort", effort });
    this.announce();
    return undefined;
  }

  /** Resolves the choice again after a change of keys or addresses. */
  async reconfigure(): Promise<void> {
    const { directory, makeAgent } = this.#options;
    const own = this.#chosen && directory.resolve(this.#chosen);
    // A removed key is no longer used. The choice stays, in case the key comes back.
    const resolution = own?.ok ? own : await directory.resolveDefault();
    if (resolution.ok && !isDeepStrictEqual(resolution.model, this.#model))
      makeAgent().setup.models.choose(resolution.model);
    this.announce();
    this.refresh();
  }

  /** Refreshes the lists in the background. */
  refresh(): void {
    const { directory } = this.#options;
    const load = (): void => void Promise.all([directory.refresh(), directory.loadDetails(this.#model)]); // never rejects
    setTimeout(load, REFRESH_DELAY_MS).unref();
  }

  /** Applies the effort to a changed model, and notifies the client of changed options. */
  announce(): void {
    this.#applyEffort();
    const shown = JSON.stringify(this.options);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#options.onChange();
  }

  dispose(): void {
    this.#stopListening();
  }

  #isListed({ provider, model }: ModelChoice): boolean {
    const group = this.#options.directory.groups().find((one) => one.provider === provider);
    return group?.models.some(({ id }) => id === model) === true;
  }

  #reasons(model: ResolvedModel): boolean {
    return modelInfo(model.model, this.#options.directory.facts(model)).reasoning;
  }

  #applyEffort(): void {
    const agent = this.#options.agent();
    if (agent !== undefined) this.attach(agent);
  }

  /** A model without reasoning would refuse a request with an effort. */
  #effortOf(model: ResolvedModel): Sampling["reasoningEffort"] {
    return this.#reasons(model) ? this.#wantedEffort() : this.#options.configuredEffort;
  }

  /** Undefined: the provider's default. */
  #wantedEffort(): Effort | undefined {
    const wanted = this.#effort ?? this.#options.configuredEffort;
    return wanted === DEFAULT_EFFORT ? undefined : wanted;
  }
}

export type StartingModel = {
  readonly resolved: ResolvedModel;
  /** Undefined: the configuration decides. */
  readonly chosen: ModelChoice | undefined;
  /** Undefined: nothing was chosen. */
  readonly effort: ChosenEffort | undefined;
  /** One line for people for each unmet choice. */
  readonly warnings: readonly string[];
};

/** Choices in the journal, or of the client for a new session. */
type Choices = { readonly model: string | undefined; readonly reasoningEffort: string | undefined };

/**
 * Model that a session starts with. Throws the protocol's error when the configuration names no usable model. `keyHint`: see
 * `ConnectedClient`.
 */
export async function startingModel(
  directory: ModelDirectory,
  choices: Choices,
  keyHint: string | undefined,
): Promise<StartingModel> {
  const effort = choices.reasoningEffort === undefined ? undefined : effortOf(choices.reasoningEffort);
  const chosen = choices.model === undefined ? undefined : parseChoice(choices.model);
  const own = chosen && directory.resolve(chosen);
  if (own?.ok) return { resolved: own.model, chosen, effort, warnings: [] };
  const automatic = await directory.resolveDefault();
  if (!automatic.ok) {
    if (automatic.keyFor !== undefined) throw authRequired(automatic, keyHint);
    throw failure(automatic.message);
  }
  const warnings = own
    ? [`${choices.model} is not available here, so Hermes uses ${automatic.model.model}. ${own.message}`]
    : [];
  return { resolved: automatic.model, chosen: undefined, effort, warnings };
}
