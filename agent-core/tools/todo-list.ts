/** Plan of the session: steps that the model keeps and people see. */
import type { EntryOf } from "../sessions/entry.ts";

export type Todo = EntryOf<"todos">["items"][number];

export class TodoList {
  #items: readonly Todo[] = [];
  readonly #changed: (items: readonly Todo[]) => void;

  /** `changed` is called with the whole list after every change. */
  constructor(changed: (items: readonly Todo[]) => void) {
    this.#changed = changed;
  }

  get items(): readonly Todo[] {
    return this.#items;
  }

  /** Restores the plan of an earlier run without a notification. */
  restore(items: readonly Todo[]): void {
    this.#items = items;
  }

  replace(items: readonly Todo[]): void {
    this.#items = items;
    this.#changed(items);
  }

  /** Updates items with known ids in place and appends the others. */
  merge(items: readonly Todo[]): void {
    const changes = new Map(items.map((item) => [item.id, item]));
    const known = new Set(this.#items.map((item) => item.id));
    const updated = this.#items.map((item) => changes.get(item.id) ?? item);
    this.replace([...updated, ...items.filter((item) => !known.has(item.id))]);
  }
}
