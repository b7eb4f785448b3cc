/** The model that a conversation uses: the chosen one, and those that stand in for it when it fails. */
import type { ResolvedModel } from "../resolve.ts";

export class ModelChain {
  #current: ResolvedModel;
  readonly #fallbacks: readonly ResolvedModel[];
  /** Stand-ins that were taken, or passed over. */
  #taken = 0;

  constructor(chosen: ResolvedModel, fallbacks: readonly ResolvedModel[] = []) {
    this.#current = chosen;
    this.#fallbacks = fallbacks;
  }

  get current(): ResolvedModel {
    return this.#current;
  }

  /** As it stands now; where the copy goes on to, this one does not follow. */
  copy(): ModelChain {
    return new ModelChain(this.#current, this.#fallbacks.slice(this.#taken));
  }

  /** The user chose: from the next call on it is this one, with the whole chain behind it again. */
  choose(model: ResolvedModel): void {
    this.#current = model;
    this.#taken = 0;
  }

  /** The model in use, reached in another way: with a fresh key. */
  replaceCurrent(model: ResolvedModel): void {
    this.#current = model;
  }

  /** Goes on to the next stand-in, which stays for the conversation; undefined, and nothing changes, when there is none. */
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
