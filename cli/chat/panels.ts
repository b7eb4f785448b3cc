/** Panels in place of the message: a request that waits for a key, and a list to choose from. */
import {
  type Component,
  fuzzyFilter,
  Input,
  matchesKey,
  type SelectItem,
  SelectList,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import { listTheme, type Theme } from "./theme.ts";

/** Keys typed within this time before were meant for the message. As in the panel. Milliseconds. */
const ARM_MS = 400;

/** Keeps keys from a new panel that were typed for the message. */
class KeyGate {
  readonly #forward: (data: string) => void;
  #armedAt: number = performance.now() + ARM_MS;

  constructor(forward: (data: string) => void) {
    this.#forward = forward;
  }

  /** False for a key that came too early, which is forwarded. */
  takes(data: string): boolean {
    if (performance.now() >= this.#armedAt) return true;
    this.#armedAt = performance.now() + ARM_MS;
    this.#forward(data);
    return false;
  }
}

export type PanelChoice = { readonly key: string; readonly name: string; readonly value: string };

/** A request that waits for a key. */
export class RequestPanel implements Component {
  /** Value of the choice; undefined for Esc. */
  readonly answer: Promise<string | undefined>;
  readonly #choices: readonly PanelChoice[];
  readonly #theme: Theme;
  readonly #gate: KeyGate;
  #resolve: (value: string | undefined) => void = () => undefined;

  constructor(choices: readonly PanelChoice[], theme: Theme, forward: (data: string) => void) {
    this.#choices = choices;
    this.#theme = theme;
    this.#gate = new KeyGate(forward);
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  invalidate(): void {
    // Nothing is cached.
  }

  /** Ends the request without an answer. */
  withdraw(): void {
    this.#resolve(undefined);
  }

  render(width: number): string[] {
    const keys = this.#choices.map(({ key, name }) => `${this.#theme.bold(this.#theme.accent(key))} ${name}`);
    return wrapTextWithAnsi(` ${this.#theme.warning("?")} ${keys.join("  ")}`, width);
  }

  handleInput(data: string): void {
    if (!this.#gate.takes(data)) return;
    if (matchesKey(data, "escape")) this.#resolve(undefined);
    const chosen = this.#choices.find(({ key }) => key === data);
    if (chosen !== undefined) this.#resolve(chosen.value);
  }
}

/** A password that is being typed: a dot for each character, and no history. */
export class PasswordPanel implements Component {
  /** Null: none. */
  readonly answer: Promise<string | null>;
  readonly #input = new Input();
  readonly #prompt: string;
  readonly #theme: Theme;
  readonly #gate: KeyGate;
  #resolve: (value: string | null) => void = () => undefined;

  constructor(prompt: string, theme: Theme, forward: (data: string) => void) {
    this.#prompt = prompt.trim();
    this.#theme = theme;
    this.#gate = new KeyGate(forward);
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#input.onSubmit = (text) => this.#resolve(text === "" ? null : text);
    this.#input.onEscape = () => this.withdraw();
  }

  invalidate(): void {
    // Nothing is cached.
  }

  withdraw(): void {
    this.#resolve(null);
  }

  render(width: number): string[] {
    const length = [...this.#input.getValue()].length;
    const shown = length === 0 ? this.#theme.dim("Enter gives it, Esc gives none") : "•".repeat(length);
    return wrapTextWithAnsi(` ${this.#theme.warning("🔐")} ${this.#theme.bold(this.#prompt)} ${shown}`, width);
  }

  handleInput(data: string): void {
    if (this.#gate.takes(data)) this.#input.handleInput(data);
  }
}

/** Visible lines of a list. */
const MAX_VISIBLE = 8;

/** A list with a search by typing. */
export class Picker implements Component {
  /** The chosen value; undefined after Esc. */
  readonly chosen: Promise<string | undefined>;
  readonly #title: string;
  readonly #items: readonly SelectItem[];
  readonly #theme: Theme;
  #query = "";
  #list: SelectList;
  #resolve: (value: string | undefined) => void = () => undefined;

  constructor(title: string, items: readonly SelectItem[], theme: Theme) {
    this.#title = title;
    this.#items = items;
    this.#theme = theme;
    this.chosen = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#list = this.#filtered();
  }

  invalidate(): void {
    this.#list.invalidate();
  }

  render(width: number): string[] {
    const search = this.#query === "" ? this.#theme.dim("type to search · Enter chooses · Esc leaves") : this.#query;
    return [` ${this.#theme.bold(this.#title)}  ${search}`, ...this.#list.render(width)];
  }

  handleInput(data: string): void {
    const isList = ["up", "down", "enter", "escape", "ctrl+c", "pageUp", "pageDown"] as const;
    if (isList.some((key) => matchesKey(data, key))) {
      this.#list.handleInput(data);
      return;
    }
    if (matchesKey(data, "backspace")) this.#query = this.#query.slice(0, -1);
    else if (!/\p{Cc}/u.test(data)) this.#query += data;
    this.#list = this.#filtered();
  }

  #filtered(): SelectList {
    const items = fuzzyFilter(
      [...this.#items],
      this.#query,
      ({ label, description = "" }) => `${label} ${description}`,
    );
    const list = new SelectList(items, MAX_VISIBLE, listTheme(this.#theme), { maxPrimaryColumnWidth: 60 });
    list.onSelect = ({ value }) => this.#resolve(value);
    list.onCancel = () => this.#resolve(undefined);
    return list;
  }
}
