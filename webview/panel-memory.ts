/** State that survives a hidden, moved or reloaded panel: draft, page, scroll position and open folds. */
import type { Attachment } from "../agent-core/protocol/attachments.ts";
import { contentLength, type Draft, toAttachment } from "./state/attachments.ts";

/** Scroll position: the first entry in view, and the pixels of it above the view. */
export type ScrollAnchor = { readonly epoch: string; readonly key: string; readonly offset: number };

/** VS Code keeps one value for a webview. */
export type StateKeeper = { getState(): unknown; setState(value: unknown): void };

type Kept = {
  /** Session that a restored tab shows, for the host. Undefined before the first one. */
  readonly sessionId: string | undefined;
  readonly draft: string;
  readonly attachments: readonly Attachment[];
  readonly route: { readonly sessions: boolean; readonly extensions: boolean; readonly setup: boolean };
  /** Extensions in need of attention that the user has seen, as `attentionKey`. */
  readonly seenExtensions: readonly string[];
  /** Messages that were sent from this panel, in any session; the newest last. */
  readonly sent: readonly string[];
  /** Undefined at the end of the transcript. */
  readonly anchor: ScrollAnchor | undefined;
  /** Folds that the user opened (true) or closed (false), by id. */
  readonly folds: Readonly<Record<string, boolean>>;
};

/** Limit of kept folds, the latest ones: more than a user opens by hand. */
const MAX_FOLDS = 500;

/** Kept messages, and the longest one in characters. */
const MAX_SENT = 50;
const MAX_SENT_CHARS = 4_000;

/** VS Code copies the state at each save. More than this is saved only when the user stops typing. Characters. */
const MAX_DIRECT_CHARS = 100_000;
const SAVE_DELAY_MS = 400;

export class PanelMemory {
  readonly #keeper: StateKeeper;
  #kept: Kept;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(keeper: StateKeeper) {
    this.#keeper = keeper;
    this.#kept = parse(keeper.getState());
  }

  get sessionId(): string | undefined {
    return this.#kept.sessionId;
  }

  get draft(): Draft {
    return { text: this.#kept.draft, attachments: this.#kept.attachments };
  }

  get route(): Kept["route"] {
    return this.#kept.route;
  }

  get seenExtensions(): readonly string[] {
    return this.#kept.seenExtensions;
  }

  get anchor(): ScrollAnchor | undefined {
    return this.#kept.anchor;
  }

  set anchor(anchor: ScrollAnchor | undefined) {
    this.keep({ anchor });
  }

  get sent(): readonly string[] {
    return this.#kept.sent;
  }

  addSent(text: string): void {
    const others = this.#kept.sent.filter((other) => other !== text);
    if (text.length <= MAX_SENT_CHARS) this.keep({ sent: [...others, text].slice(-MAX_SENT) });
  }

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
    clearTimeout(this.#timer);
    const chars = this.#kept.attachments.reduce((sum, attachment) => sum + contentLength(attachment), 0);
    if (chars <= MAX_DIRECT_CHARS) this.save();
    else this.#timer = setTimeout(() => this.save(), SAVE_DELAY_MS);
  }

  /** Saves what `keep` has put off. */
  save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#keeper.setState(this.#kept);
  }
}

/** The value may come from another version of the panel: fields of another shape get their default. */
function parse(value: unknown): Kept {
  const kept: Partial<Record<keyof Kept, unknown>> = typeof value === "object" && value !== null ? value : {};
  const folds = typeof kept.folds === "object" && kept.folds !== null ? Object.entries(kept.folds) : [];
  return {
    sessionId: typeof kept.sessionId === "string" ? kept.sessionId : undefined,
    draft: typeof kept.draft === "string" ? kept.draft : "",
    attachments: Array.isArray(kept.attachments) ? kept.attachments.flatMap((one) => toAttachment(one) ?? []) : [],
    route: parseRoute(kept.route),
    seenExtensions: stringsIn(kept.seenExtensions),
    sent: stringsIn(kept.sent),
    anchor: parseAnchor(kept.anchor),
    folds: Object.fromEntries(folds.filter((fold): fold is [string, boolean] => typeof fold[1] === "boolean")),
  };
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function parseRoute(value: unknown): Kept["route"] {
  const { sessions, extensions, setup }: Partial<Record<string, unknown>> =
    typeof value === "object" && value !== null ? value : {};
  return { sessions: sessions === true, extensions: extensions === true, setup: setup === true };
}

function parseAnchor(value: unknown): ScrollAnchor | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { epoch, key, offset }: Partial<Record<keyof ScrollAnchor, unknown>> = value;
  if (typeof epoch !== "string" || typeof key !== "string" || typeof offset !== "number") return undefined;
  return { epoch, key, offset };
}
