/** The models of a conversation: the chosen one and its fallbacks. */
import type { ResolvedModel } from "../resolve-model.ts";

export class ModelChain {
  #current: ResolvedModel;
  readonly #fallbacks: readonly ResolvedModel[];
  /** Count of fallbacks that were used or skipped. */
  #taken = 0;
  #choice = new AbortController();

  constructor(chosen: ResolvedModel, fallbacks: readonly ResolvedModel[] = []) {
    this.#current = chosen;
    this.#fallbacks = fallbacks;
  }

  get current(): ResolvedModel {
    return this.#current;
  }

  /** True while another model can take over. */
  get hasFallback(): boolean {
    return this.#fallbacks.slice(this.#taken).some((next) => !isSame(next, this.#current));
  }

  /** Aborted by the user's next choice of a model. */
  get untilChoice(): AbortSignal {
    return this.#choice.signal;
  }

  /** An independent copy of the current state. */
  copy(): ModelChain {
    return new ModelChain(this.#current, this.#fallbacks.slice(this.#taken));
  }

  /** Applies the user's choice from the next call on, with all fallbacks available again. */
  choose(model: ResolvedModel): void {
    this.#current = model;
    this.#taken = 0;
    this.#choice.abort();
    this.#choice = new AbortController();
  }

  /** Replaces the access to the current model, such as its key. */
  replaceCurrent(model: ResolvedModel): void {
    this.#current = model;
  }

  /** Moves to the next fallback for the rest of the conversation. Returns undefined, without a change, when there is none. */
  advance(): ResolvedModel | undefined {
    while (this.#taken < this.#fallbacks.length) {
      const next = this.#fallbacks[this.#taken];
      this.#taken += 1;
      if (next === undefined || isSame(next, this.#current)) continue;
      this.#current = next;
      return next;
    }
    return undefined;
  }
}

function isSame(first: ResolvedModel, second: ResolvedModel): boolean {
  return first.model === second.model && first.endpoint.baseUrl === second.endpoint.baseUrl;
}
