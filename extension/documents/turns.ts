/** Changes of one thing wait for each other: the next one must see what the last one left. */

export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `change` after those of the same name before it (the path of a file), and gives its outcome. */
  async take<Result>(name: string, change: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(name) ?? Promise.resolve();
    const turn = previous.then(change);
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
