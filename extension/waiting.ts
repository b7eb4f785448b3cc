/** How much waits for the user: requests of the agent, and edits that wait for a verdict. */

export class Waiting {
  readonly #show: (count: number) => void;
  #requests = 0;
  #edits = 0;

  /** `show` is told the sum whenever a part of it was. */
  constructor(show: (count: number) => void) {
    this.#show = show;
  }

  requests(count: number): void {
    this.#requests = count;
    this.#show(this.#requests + this.#edits);
  }

  edits(count: number): void {
    this.#edits = count;
    this.#show(this.#requests + this.#edits);
  }
}
