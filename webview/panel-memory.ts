/** State that survives a hidden, moved or reloaded panel: draft, page, scroll position and open folds. */

/** Where the user was reading: the first entry in view and how far it was scrolled past, in pixels. */
export type ScrollAnchor = { readonly epoch: string; readonly key: string; readonly offset: number };

/** VS Code's keeper of one value for a webview. */
export type StateKeeper = { getState(): unknown; setState(value: unknown): void };

type Kept = {
  readonly draft: string;
  readonly route: { readonly sessions: boolean; readonly setup: boolean };
  /** Undefined when the end of the transcript was in view. */
  readonly anchor: ScrollAnchor | undefined;
  /** What the user opened (true) or closed (false) against its default, by id. */
  readonly folds: Readonly<Record<string, boolean>>;
};

// Old folds are forgotten first; more than this many nobody opens by hand.
const MAX_FOLDS = 500;

export class PanelMemory {
  readonly #keeper: StateKeeper;
  #kept: Kept;

  constructor(keeper: StateKeeper) {
    this.#keeper = keeper;
    this.#kept = parse(keeper.getState());
  }

  get draft(): string {
    return this.#kept.draft;
  }

  get route(): Kept["route"] {
    return this.#kept.route;
  }

  get anchor(): ScrollAnchor | undefined {
    return this.#kept.anchor;
  }

  set anchor(anchor: ScrollAnchor | undefined) {
    this.keep({ anchor });
  }

  /** The user's own choice for `id`, or `byDefault`. */
  isOpen(id: string, byDefault: boolean): boolean {
    return this.#kept.folds[id] ?? byDefault;
  }

  setOpen(id: string, open: boolean): void {
    const { [id]: _before, ...others } = this.#kept.folds;
    const recent = Object.entries(others).slice(-MAX_FOLDS);
    this.keep({ folds: { ...Object.fromEntries(recent), [id]: open } });
  }

  keep(change: Partial<Kept>): void {
    this.#kept = { ...this.#kept, ...change };
    this.#keeper.setState(this.#kept);
  }
}

// What was kept may come from another version of the panel: whatever does not fit is left out.
function parse(value: unknown): Kept {
  const kept: Partial<Record<keyof Kept, unknown>> = typeof value === "object" && value !== null ? value : {};
  const folds = typeof kept.folds === "object" && kept.folds !== null ? Object.entries(kept.folds) : [];
  return {
    draft: typeof kept.draft === "string" ? kept.draft : "",
    route: parseRoute(kept.route),
    anchor: parseAnchor(kept.anchor),
    folds: Object.fromEntries(folds.filter((fold): fold is [string, boolean] => typeof fold[1] === "boolean")),
  };
}

function parseRoute(value: unknown): Kept["route"] {
  const { sessions, setup }: Partial<Record<string, unknown>> =
    typeof value === "object" && value !== null ? value : {};
  return { sessions: sessions === true, setup: setup === true };
}

function parseAnchor(value: unknown): ScrollAnchor | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { epoch, key, offset }: Partial<Record<keyof ScrollAnchor, unknown>> = value;
  if (typeof epoch !== "string" || typeof key !== "string" || typeof offset !== "number") return undefined;
  return { epoch, key, offset };
}
