/** The model that a conversation uses: the chosen one, and those that stand in for it when it fails. */
import type { ResolvedModel } from "../providers/resolve.ts";

export class ModelChain {
  #chosen: ResolvedModel;
  readonly #fallbacks: readonly ResolvedModel[];
  /** 0 is the chosen model; a stand-in stays for the rest of the conversation. */
  #position = 0;

  constructor(chosen: ResolvedModel, fallbacks: readonly ResolvedModel[] = []) {
    this.#chosen = chosen;
    this.#fallbacks = fallbacks;
  }

  get current(): ResolvedModel {
    return this.#fallbacks[this.#position - 1] ?? this.#chosen;
  }

  /** The user chose: from the next call on it is this one, with the whole chain behind it again. */
  choose(model: ResolvedModel): void {
    this.#chosen = model;
    this.#position = 0;
  }

  /** Goes on to the next stand-in; undefined, and nothing changes, when there is none. */
  advance(): ResolvedModel | undefined {
    const next = this.#fallbacks[this.#position];
    if (next !== undefined) this.#position += 1;
    return next;
  }
}
