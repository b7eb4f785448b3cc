/** From callbacks to an async iteration: what arrives waits until it is asked for. One reader. */
export class EventQueue<Event> {
  readonly #waiting: Event[] = [];
  #pushed = 0;
  #expected = Number.POSITIVE_INFINITY;
  #end: { readonly error: unknown } | "ended" | undefined;
  #wake: () => void = () => undefined;

  push(event: Event): void {
    this.#waiting.push(event);
    this.#pushed += 1;
    if (this.#pushed >= this.#expected) this.end();
    this.#wake();
  }

  end(): void {
    this.#end ??= "ended";
    this.#wake();
  }

  /** Ends when so many events have been pushed in all. */
  endAfter(count: number): void {
    this.#expected = count;
    if (this.#pushed >= count) this.end();
  }

  /** The reader gets what has arrived before, then the error. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) yield event;
      else if (this.#end === "ended") return;
      else if (this.#end !== undefined) throw this.#end.error;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
