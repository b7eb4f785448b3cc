/** Changes of one file wait for each other: the next one must see what the last one left. */

export class FileTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `change` after those of the same path before it, and gives its outcome. */
  async take<Result>(path: string, change: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(path) ?? Promise.resolve();
    const turn = previous.then(change);
    const settled = turn.then(
      () => undefined,
      () => undefined, // told to who asked for it
    );
    this.#last.set(path, settled);
    try {
      return await turn;
    } finally {
      if (this.#last.get(path) === settled) this.#last.delete(path);
    }
  }
}
