/** What touches one thing in this process is done one after the other: the next must see what the last has left. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does `work` after all that was asked for under this name before, well ended or not. Settles as it does. */
  async take<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    const turn = (this.#last.get(name) ?? Promise.resolve()).then(work);
    const settled = turn.then(
      () => undefined,
      () => undefined, // told to who asked for it
    );
    this.#last.set(name, settled);
    try {
      return await turn;
    } finally {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    }
  }
}
