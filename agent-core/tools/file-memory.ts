/** Texts that files had when the model last read or wrote them in this session. */
import { withoutMark } from "../host/decode-file.ts";

/** Edits of a file that are recognised when the user undoes them. */
const REMEMBERED_EDITS = 10;

export class FileMemory {
  readonly #known = new Map<string, string>();
  /** The texts before the model's last edits of a file, newest first. */
  readonly #before = new Map<string, readonly string[]>();
  /** Number of edits that a file has refused since the last one that succeeded. */
  readonly #refusals = new Map<string, number>();

  /** Notes that the model has seen `text` at `path` (absolute). */
  note(path: string, text: string): void {
    this.#known.set(path, text);
  }

  /** Notes that the model has changed `before` (empty for a new file) to `after`. */
  wrote(path: string, before: string, after: string): void {
    this.#refusals.delete(path);
    this.#known.set(path, withoutMark(after));
    this.#before.set(path, [before, ...this.textsBefore(path)].slice(0, REMEMBERED_EDITS));
  }

  /** Notes a refused edit; returns the number of refused edits in a row. */
  refused(path: string): number {
    const times = (this.#refusals.get(path) ?? 0) + 1;
    this.#refusals.set(path, times);
    return times;
  }

  /** Texts of the file before the model's last edits, newest first. */
  textsBefore(path: string): readonly string[] {
    return this.#before.get(path) ?? [];
  }

  /** Text that the model knows; undefined when it never saw the file. */
  recall(path: string): string | undefined {
    return this.#known.get(path);
  }

  forget(path: string): void {
    this.#known.delete(path);
  }
}
