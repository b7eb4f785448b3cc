/** Texts that files had when the model read or wrote them in this session. */
import { withoutMark } from "../host/decode-file.ts";

/** Texts of a file that are remembered: edits among them are recognised when the user undoes them. */
const REMEMBERED_TEXTS = 10;

type Seen = {
  /** Position of the conversation's next message at that time. */
  readonly position: number;
  readonly text: string;
  /** Text before the model's edit, empty for a new file; undefined: the model has read `text`. */
  readonly before?: string;
};

export class FileMemory {
  readonly #position: () => number;
  /** By absolute path, newest first. */
  #seen = new Map<string, readonly Seen[]>();
  #seenBeforeRewind = this.#seen;
  /** Number of edits that a file has refused since the last one that succeeded. */
  readonly #refusals = new Map<string, number>();

  /** `position`: that of the conversation's next message. */
  constructor(position: () => number = () => 0) {
    this.#position = position;
  }

  /** Notes that the model has seen `text` at `path` (absolute). */
  note(path: string, text: string): void {
    if (this.recall(path) !== text) this.#add(path, { text });
  }

  /** Notes that the model has changed `before` (empty for a new file) to `after`. */
  wrote(path: string, before: string, after: string): void {
    this.#refusals.delete(path);
    this.#add(path, { text: withoutMark(after), before });
  }

  /** Notes a refused edit; returns the number of refused edits in a row. */
  refused(path: string): number {
    const times = (this.#refusals.get(path) ?? 0) + 1;
    this.#refusals.set(path, times);
    return times;
  }

  /** Texts of the file before the model's last edits, newest first. */
  textsBefore(path: string): readonly string[] {
    return this.#seen.get(path)?.flatMap(({ before }) => before ?? []) ?? [];
  }

  /** Text that the model knows; undefined when it never saw the file. */
  recall(path: string): string | undefined {
    return this.#seen.get(path)?.[0]?.text;
  }

  forget(path: string): void {
    this.#seen.delete(path);
  }

  /** Forgets what messages from position `keep` on have shown to the model: it no longer gets them. */
  rewind(keep: number): void {
    this.#refusals.clear();
    this.#seenBeforeRewind = this.#seen;
    const kept = [...this.#seen].map(([path, seen]) => [path, seen.filter(({ position }) => position < keep)] as const);
    this.#seen = new Map(kept);
  }

  /** Takes the last rewind back. */
  unrewind(): void {
    this.#seen = this.#seenBeforeRewind;
  }

  #add(path: string, seen: Omit<Seen, "position">): void {
    const earlier = this.#seen.get(path) ?? [];
    this.#seen.set(path, [{ position: this.#position(), ...seen }, ...earlier].slice(0, REMEMBERED_TEXTS));
  }
}
