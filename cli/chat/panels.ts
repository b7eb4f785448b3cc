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
import { chosenBy, type PanelChoice } from "./requests.ts";
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

/** A request that waits for a key. */
export class RequestPanel implements Component {
  readonly #answer = Promise.withResolvers<string | undefined>();
  /** Value of the choice; undefined for Esc. */
  readonly answer = this.#answer.promise;
  readonly #choices: readonly PanelChoice[];
  readonly #theme: Theme;
  readonly #gate: KeyGate;
  /** Added after a key that means nothing, as the letters of another keyboard do. */
  #hint = "";

  constructor(choices: readonly PanelChoice[], theme: Theme, forward: (data: string) => void) {
    this.#choices = choices;
    this.#theme = theme;
    this.#gate = new KeyGate(forward);
  }

  invalidate(): void {
    // Nothing is cached.
  }

  /** Ends the request without an answer. */
  withdraw(): void {
    this.#answer.resolve(undefined);
  }

  render(width: number): string[] {
    const keys = this.#choices.map(({ key, name }) => `${this.#theme.bold(this.#theme.accent(key))} ${name}`);
    return wrapTextWithAnsi(` ${this.#theme.warning("?")} ${keys.join("  ")}${this.#theme.dim(this.#hint)}`, width);
  }

  handleInput(data: string): void {
    if (!this.#gate.takes(data)) return;
    if (matchesKey(data, "escape")) this.withdraw();
    const chosen = chosenBy(data, this.#choices);
    if (chosen === undefined) this.#hint = `  or 1 to ${this.#choices.length}`;
    else this.#answer.resolve(chosen);
  }
}

/** A password that is being typed: a dot for each character, and no history. */
export class PasswordPanel implements Component {
  readonly #answer = Promise.withResolvers<string | null>();
  /** Null: none. */
  readonly answer = this.#answer.promise;
  readonly #input = new Input();
  readonly #prompt: string;
  readonly #theme: Theme;
  readonly #gate: KeyGate;

  constructor(prompt: string, theme: Theme, forward: (data: string) => void) {
    this.#prompt = prompt.trim();
    this.#theme = theme;
    this.#gate = new KeyGate(forward);
    this.#input.onSubmit = (text) => this.#answer.resolve(text === "" ? null : text);
    this.#input.onEscape = () => this.withdraw();
  }

  invalidate(): void {
    // Nothing is cached.
  }

  withdraw(): void {
    this.#answer.resolve(null);
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
  readonly #chosen = Promise.withResolvers<string | undefined>();
  /** The chosen value; undefined after Esc. */
  readonly chosen = this.#chosen.promise;
  readonly #items: readonly SelectItem[];
  readonly #theme: Theme;
  readonly #input: Input;
  #list: SelectList;

  constructor(title: string, items: readonly SelectItem[], theme: Theme) {
    this.#items = items;
    this.#theme = theme;
    const placeholder = "type to search · Enter chooses · Esc leaves";
    this.#input = new Input({ prompt: ` ${theme.bold(title)}  `, placeholder, placeholderStyle: theme.dim });
    this.#list = this.#filtered();
  }

  /** The cursor stands in the search: there an input method shows the letters that it composes. */
  get focused(): boolean {
    return this.#input.focused;
  }

  set focused(isFocused: boolean) {
    this.#input.focused = isFocused;
  }

  invalidate(): void {
    this.#list.invalidate();
  }

  render(width: number): string[] {
    return [...this.#input.render(width), ...this.#list.render(width)];
  }

  handleInput(data: string): void {
    const isList = ["up", "down", "enter", "escape", "ctrl+c", "pageUp", "pageDown"] as const;
    if (isList.some((key) => matchesKey(data, key))) {
      this.#list.handleInput(data);
      return;
    }
    this.#input.handleInput(data);
    this.#list = this.#filtered();
  }

  #filtered(): SelectList {
    const items = fuzzyFilter(
      [...this.#items],
      this.#input.getValue(),
      ({ label, description = "" }) => `${label} ${description}`,
    );
    const list = new SelectList(items, MAX_VISIBLE, listTheme(this.#theme), { maxPrimaryColumnWidth: 60 });
    list.onSelect = ({ value }) => this.#chosen.resolve(value);
    list.onCancel = () => this.#chosen.resolve(undefined);
    return list;
  }
}
