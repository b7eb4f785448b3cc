/** What the model knows of files: the text each had when the model last read or wrote it in this session. */
export class FileMemory {
  readonly #known = new Map<string, string>();

  /** Notes that the model has seen `text` at `path` (absolute). */
  note(path: string, text: string): void {
    this.#known.set(path, text);
  }

  /** The text that the model believes is there; undefined when it never saw the file. */
  recall(path: string): string | undefined {
    return this.#known.get(path);
  }

  forget(path: string): void {
    this.#known.delete(path);
  }
}
