/** The user's message: an editor behind the prompt, with history, and completion of commands, files after `@` and paths. */
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { promisify } from "node:util";
import {
  type AutocompleteProvider,
  CombinedAutocompleteProvider,
  Editor,
  fuzzyFilter,
  type TUI,
} from "@earendil-works/pi-tui";
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import type { PromptHistory } from "./history.ts";
import { editorTheme, type Theme } from "./theme.ts";

/** Stand for the borders of the editor, which are not drawn. */
const TOP = "\u0001";
const BOTTOM = "\u0002";
const MAX_COMPLETIONS = 8;
const ESCAPE = "\u001b";
const WIDE_SIGNS: Readonly<Record<string, string>> = { "／": "/", "、": "/", "！": "!", "＠": "@" };

export class Composer extends Editor {
  /** `⚕ ❯` while the agent works. */
  isBusy: boolean = false;
  /** Shown behind the prompt of an empty message. */
  hint: string = "";
  #theme: Theme;
  readonly #history: PromptHistory;

  constructor(tui: TUI, theme: Theme, history: PromptHistory) {
    super(tui, editorTheme(theme), { autocompleteMaxVisible: MAX_COMPLETIONS });
    this.#theme = theme;
    this.#history = history;
    for (const prompt of history.prompts) this.addToHistory(prompt);
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
  }

  /** Keeps a sent message for ↑. */
  remember(prompt: string): void {
    this.addToHistory(prompt);
    this.#history.add(prompt);
  }

  /** A message may begin with the wide signs of an input method: they mean a command, a shell line or a file. */
  override handleInput(data: string): void {
    const before = this.getText();
    super.handleInput(before === "" ? (WIDE_SIGNS[data] ?? data) : data);
    // The editor updates its list after a deleted letter only.
    if (this.getText().length < before.length - 1 && this.isShowingAutocomplete()) super.handleInput(ESCAPE);
  }

  /** The editor's own pattern wants a blank before `@`. */
  override setAutocompleteProvider(provider: AutocompleteProvider): void {
    super.setAutocompleteProvider(provider);
    this["autocompleteTriggerPattern"] = new RegExp(
      `${this["autocompleteTriggerPattern"].source}|${MENTION.source}`,
      "u",
    );
  }

  protected override renderTopBorder(): string {
    return TOP;
  }

  protected override renderBottomBorder(): string {
    return BOTTOM;
  }

  override render(width: number): string[] {
    const mark = this.isBusy ? "⚕ ❯ " : "❯ ";
    const lines = super.render(Math.max(1, width - mark.length)).filter((line) => line !== TOP);
    const end = lines.indexOf(BOTTOM);
    const paint = this.isBusy ? this.#theme.dim : this.#theme.accent;
    return lines.toSpliced(end, 1).map((line, index) => {
      const isHinted = index === 0 && end === 1 && this.hint !== "" && this.getText() === "";
      const text = isHinted ? `${line.trimEnd()} ${this.#theme.dim(this.hint)}` : line;
      return `${index === 0 ? paint(mark) : " ".repeat(mark.length)}${text}`;
    });
  }
}

const MAX_FILES = 20_000;
const MAX_SHOWN = 50;
/** A list of files serves the completions of this time. Milliseconds. */
const FRESH_MS = 5_000;
/** `@` begins a word, or follows a letter that is not ASCII: Chinese and Japanese have no blanks between words. */
const MENTION = /(?<![\w.%+@-])[@＠](\S*)$/;

/** `commands`: names without the slash. `cwd`: absolute. */
export function completionOf(commands: readonly AvailableCommand[], cwd: string): AutocompleteProvider {
  const listed = commands.map(({ name, description, input }) => ({
    ...{ name, description },
    ...(input !== undefined && input !== null && "hint" in input && { argumentHint: String(input.hint) }),
  }));
  const plain = new CombinedAutocompleteProvider(listed, cwd, null);
  const files = fileList(cwd);
  return {
    triggerCharacters: ["@", "＠"],
    async getSuggestions(lines, cursorLine, cursorCol, options) {
      const before = lines[cursorLine]?.slice(0, cursorCol) ?? "";
      const query = MENTION.exec(before)?.[1];
      if (query === undefined) return plain.getSuggestions(lines, cursorLine, cursorCol, options);
      const found = fuzzyFilter([...(await files())], query, (file) => file).slice(0, MAX_SHOWN);
      if (found.length === 0) return null;
      return {
        prefix: before.slice(-query.length - 1),
        items: found.map((file) => ({ value: `@${file}`, label: file })),
      };
    },
    applyCompletion: (...change) => plain.applyCompletion(...change),
    shouldTriggerFileCompletion: (...place) => plain.shouldTriggerFileCompletion(...place),
  };
}

/** Files of a folder: those of git without the ignored ones, else the first ones of the folder itself. */
function fileList(cwd: string): () => Promise<readonly string[]> {
  let listed: Promise<readonly string[]> | undefined;
  let at = 0;
  return () => {
    if (listed === undefined || Date.now() - at > FRESH_MS) {
      at = Date.now();
      listed = gitFiles(cwd).catch(() => readdir(cwd));
    }
    return listed;
  };
}

async function gitFiles(cwd: string): Promise<readonly string[]> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = await promisify(execFile)("git", args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  return stdout
    .split("\0")
    .filter((file) => file !== "")
    .slice(0, MAX_FILES);
}
