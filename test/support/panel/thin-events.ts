/** Events and disposables as VS Code has them. */
export class Disposable {
  readonly #dispose: () => unknown;

  constructor(dispose: () => unknown = () => undefined) {
    this.#dispose = dispose;
  }

  static from(...disposables: readonly { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const disposable of disposables) disposable.dispose();
    });
  }

  dispose(): void {
    this.#dispose();
  }
}

export class EventEmitter<Value> {
  readonly #listeners = new Set<(value: Value) => unknown>();

  readonly event = (listen: (value: Value) => unknown): Disposable => {
    const listener = (value: Value): unknown => listen(value);
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };

  fire(value: Value): void {
    for (const listener of [...this.#listeners]) listener(value);
  }

  dispose(): void {
    this.#listeners.clear();
  }
}
