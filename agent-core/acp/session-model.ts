/** The model of one session: what was chosen, what that leads to, and what editors are shown of it. */
import { isDeepStrictEqual } from "node:util";
import type { SessionConfigOption } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../agent/ai-agent.ts";
import type { ModelDirectory, ModelGroup } from "../agent/model-directory.ts";
import { choiceId, choiceOf, type ModelChoice, parseChoice, settingsOf } from "../providers/choice.ts";
import { modelInfo } from "../providers/model-info.ts";
import type { Sampling } from "../providers/wire/wire.ts";
import type { NewEntry } from "../sessions/journal.ts";
import { type ChosenEffort, DEFAULT_EFFORT, type Effort, effortOf, effortOption } from "./effort-option.ts";
import { modelOption } from "./model-option.ts";

export type SessionModelOptions = {
  readonly directory: ModelDirectory;
  readonly agent: AIAgent;
  /** Undefined: the configuration decides. */
  readonly chosen: ModelChoice | undefined;
  /** Undefined: nothing was chosen. */
  readonly effort: ChosenEffort | undefined;
  /** What config.yaml says of it; holds until something is chosen. */
  readonly configuredEffort: Sampling["reasoningEffort"];
  record(entry: NewEntry): void;
  /** The options are not what they were when this was called last. */
  onChange(): void;
};

export class SessionModel {
  readonly #options: SessionModelOptions;
  readonly #stopListening: () => void;
  #chosen: ModelChoice | undefined;
  #effort: ChosenEffort | undefined;
  /** The options as they were shown, to tell a change from none. */
  #shown: string;

  constructor(options: SessionModelOptions) {
    this.#options = options;
    this.#chosen = options.chosen;
    this.#effort = options.effort;
    this.#stopListening = options.directory.onChange(() => this.announce());
    this.#applyEffort();
    this.#shown = JSON.stringify(this.options);
  }

  /** What the client is shown: the model, and how long it thinks when it is one that does. */
  get options(): readonly SessionConfigOption[] {
    const model = modelOption(this.current, this.#options.directory.groups());
    return this.#reasons() ? [model, effortOption(this.#wantedEffort())] : [model];
  }

  /** The model in use: the chosen one, or the one that stands in for it. */
  get current(): ModelChoice {
    return choiceOf(this.#options.agent.model);
  }

  /** Everything that can be chosen, whatever answers on this machine included. */
  async all(): Promise<readonly ModelGroup[]> {
    const { directory } = this.#options;
    await Promise.all([directory.refresh(), directory.discover()]);
    return directory.groups();
  }

  /** Takes a model of the lists by its id, from the next model call on. Gives what is wrong, in one line. */
  async chooseListed(id: string): Promise<string | undefined> {
    const choice = parseChoice(id);
    if (choice !== undefined && (await this.#isListed(choice))) return this.choose(choice);
    return `there is no model ${JSON.stringify(id)} to choose; /model lists what there is`;
  }

  /** Takes any model, from the next model call on. Gives what is wrong, in one line. */
  choose(choice: ModelChoice): string | undefined {
    const { directory, record } = this.#options;
    const resolution = directory.resolve(choice);
    if (!resolution.ok) return resolution.message;
    this.#chosen = choice;
    this.#options.agent.setModel(settingsOf(resolution.model));
    record({ type: "model", choice: choiceId(choice) });
    this.announce();
    this.refresh();
    return undefined;
  }

  /** Sets how long the model thinks, from the next model call on. Gives what is wrong, in one line. */
  setEffort(value: string): string | undefined {
    const effort = effortOf(value);
    if (effort === undefined) return `${JSON.stringify(value)} is no reasoning effort`;
    this.#effort = effort;
    this.#options.record({ type: "reasoning-effort", effort });
    this.announce();
    return undefined;
  }

  /** Keys or addresses changed: the same choice may now be reached otherwise, or a better one be there. */
  async reconfigure(): Promise<void> {
    const { directory, agent } = this.#options;
    const wished = this.#chosen && directory.resolve(this.#chosen);
    // A key that was taken away is not used any more, though the choice stands in case it comes back.
    const resolution = wished?.ok ? wished : await directory.automatic();
    if (resolution.ok && !isDeepStrictEqual(resolution.model, agent.model))
      agent.setModel(settingsOf(resolution.model));
    this.announce();
    this.refresh();
  }

  /** Brings the lists up to date in the background. */
  refresh(): void {
    // After what is being answered now: a list is never in anybody's way. It never rejects.
    const { directory, agent } = this.#options;
    setImmediate(() => void Promise.all([directory.refresh(), directory.learn(agent.model)]));
  }

  /** The model, or what is known of it, may have changed: the effort follows it, and the client is told of what it sees. */
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

  /** Lists that are still on their way may have it. */
  async #isListed({ provider, model }: ModelChoice): Promise<boolean> {
    const { directory } = this.#options;
    const isThere = (): boolean =>
      directory.groups().some((group) => group.provider === provider && group.models.some(({ id }) => id === model));
    if (isThere()) return true;
    await Promise.all([directory.refresh(), directory.discover()]);
    return isThere();
  }

  #reasons(): boolean {
    const { agent, directory } = this.#options;
    return modelInfo(agent.model.model, directory.facts(agent.model)).reasoning;
  }

  /** What was chosen for one model is not sent to another that does not reason: it would refuse the request. */
  #applyEffort(): void {
    const { agent, configuredEffort } = this.#options;
    agent.setReasoningEffort(this.#reasons() ? this.#wantedEffort() : configuredEffort);
  }

  /** Undefined: as the provider has it. */
  #wantedEffort(): Effort | undefined {
    const wanted = this.#effort ?? this.#options.configuredEffort;
    return wanted === DEFAULT_EFFORT ? undefined : wanted;
  }
}
