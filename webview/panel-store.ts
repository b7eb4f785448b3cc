/** Holds the panel's state: events change it at once, what is on screen follows at most once a frame. */
import type { ReadonlySignal, Signal } from "@preact/signals";
import { computed, signal } from "@preact/signals";
import type { PanelEvent } from "../agent-core/protocol/panel-events.ts";
import { type LocalEvent, reduceAll } from "./state/reduce.ts";
import { emptyState, type PanelState, withoutSession } from "./state/state.ts";

export type StoreOptions = {
  /** Clock in milliseconds. */
  readonly now: () => number;
  /** Runs its argument before the next paint. */
  readonly nextFrame: (paint: () => void) => void;
  /** Called after the screen has taken up everything received. */
  readonly onShown: () => void;
};

export class PanelStore {
  readonly #options: StoreOptions;
  readonly #shown: Signal<PanelState> = signal(emptyState);
  #state: PanelState = emptyState;
  #scheduled = false as boolean;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  /** The state that is on screen. */
  get shown(): ReadonlySignal<PanelState> {
    return this.#shown;
  }

  /** The state with every event applied; `shown` follows with the next frame. */
  get state(): PanelState {
    return this.#state;
  }

  /** Applies events; `reset` drops the session of the state first. */
  apply(events: readonly (PanelEvent | LocalEvent)[], reset = false): void {
    const at = this.#options.now();
    this.#state = reduceAll(reset ? withoutSession(this.#state) : this.#state, events, at);
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.nextFrame(() => this.#paint());
  }

  /** A part of the state: those who read it are drawn again only when that part changes. */
  select<T>(part: (state: PanelState) => T): ReadonlySignal<T> {
    return computed(() => part(this.#shown.value));
  }

  #paint(): void {
    this.#scheduled = false;
    this.#shown.value = this.#state;
    this.#options.onShown();
  }
}
