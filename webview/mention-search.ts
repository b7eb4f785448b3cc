/** Search after `@`: asks the host for matches, and drops the answers to earlier questions. */
import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { MentionItem } from "../agent-core/protocol/attachments.ts";
import type { HostMessage } from "../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../agent-core/protocol/panel-messages.ts";

export type Mentions = {
  /** The word that was searched, which the user may have changed since. */
  readonly query: string;
  readonly items: readonly MentionItem[];
  /** False while the host still indexes the workspace. */
  readonly isComplete: boolean;
};

export class MentionSearch {
  readonly #post: (message: PanelMessage) => void;
  readonly #found: Signal<Mentions | undefined> = signal(undefined);
  #query: string | undefined;
  /** Number of the last search. */
  #id = 0;

  constructor(post: (message: PanelMessage) => void) {
    this.#post = post;
  }

  /** The last matches, which stay until those of the next word are there; undefined before the first ones. */
  get found(): ReadonlySignal<Mentions | undefined> {
    return this.#found;
  }

  search(query: string): void {
    if (query === this.#query) return;
    this.#query = query;
    this.#id += 1;
    this.#post({ type: "mention-search", id: this.#id, query });
  }

  receive({ id, items, isComplete }: Extract<HostMessage, { type: "mentions" }>): void {
    if (id !== this.#id || this.#query === undefined) return;
    this.#found.value = { query: this.#query, items, isComplete };
  }

  /** The list is closed: later answers are dropped. */
  close(): void {
    this.#query = undefined;
    this.#found.value = undefined;
  }
}
