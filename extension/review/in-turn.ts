/** Keys pressed in a row: each acts on what the one before it has left. */
export class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `action` when those before it have ended, however they did, and gives its outcome. */
  take<Result>(action: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(action);
    // Told to who asked for it.
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
