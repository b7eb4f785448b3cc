/** A streamed answer in Markdown: its finished blocks as lines that never change, and its open end. */
import {
  Markdown,
  type MarkdownTheme,
  Marked,
  sliceByColumn,
  stripTerminalSequences,
  type Token,
  visibleWidth,
} from "@earendil-works/pi-tui";
import { highlighted } from "./highlight.ts";
import type { Theme } from "./theme.ts";

/** An open code block or list that is longer is cut, since each frame draws the open end. Lines. */
const LONG_BLOCK = 60;
/** Lines and items that stay in the open part of a long block. */
const KEPT = 20;

const marked = new Marked();

export class MarkdownStream {
  readonly #theme: MarkdownTheme;
  #pending = "";
  /** Characters of the open part that are finished lines already, without spaces. */
  #printed = 0;
  /** The last of these lines is empty. */
  #printedBlank: boolean = false;

  constructor(theme: Theme) {
    this.#theme = markdownTheme(theme);
  }

  append(text: string): void {
    this.#pending += text;
  }

  get isEmpty(): boolean {
    return this.#pending.trim() === "";
  }

  /** Takes the lines that never change again. At most `maxOpen` lines stay open. */
  settle(width: number, maxOpen: number): readonly string[] {
    const tokens = marked.lexer(this.#pending);
    const open = tokens.findLastIndex(({ type }) => type !== "space");
    const lines = open > 0 ? this.#take(rawOf(tokens.slice(0, open)), width) : [];
    const last = tokens[open];
    const cut = last === undefined ? undefined : cutLong(last, this.#pending);
    if (cut !== undefined) lines.push(...this.#cut(cut, width));
    const rest = this.open(width);
    const surplus = rest.slice(0, Math.max(0, rest.length - maxOpen));
    if (surplus.length > 0) this.#printedBlank = surplus.at(-1) === "";
    this.#printed += charactersOf(surplus);
    return [...lines, ...surplus];
  }

  /** Lines of the open part that are not finished. */
  open(width: number): readonly string[] {
    return this.#withoutPrinted(this.#render(this.#pending, width));
  }

  /** The remaining lines. The stream is empty after it. */
  end(width: number): readonly string[] {
    return this.#take(this.#pending, width);
  }

  #take(raw: string, width: number): string[] {
    const lines = this.#withoutPrinted(this.#render(raw, width));
    this.#pending = this.#pending.slice(raw.length);
    this.#printed = 0;
    this.#printedBlank = false;
    return this.#pending.trim() === "" || lines.length === 0 || lines.at(-1) === "" ? lines : [...lines, ""];
  }

  /** Lines of the finished part of a long block. */
  #cut({ finished, open, isCode }: CutBlock, width: number): readonly string[] {
    const lines = this.#withoutPrinted(this.#render(finished, width));
    this.#pending = open;
    // The open part repeats the upper border of its code, and the finished part has no lower one.
    this.#printed = isCode ? charactersOf(this.#render(open, width).slice(0, 1)) : 0;
    return isCode ? lines.slice(0, -1) : lines;
  }

  #render(raw: string, width: number): string[] {
    if (raw.trim() === "") return [];
    const lines = new Markdown(raw.trimEnd(), 0, 0, this.#theme).render(width);
    return lines.map((line) => line.replace(/ +$/, ""));
  }

  /** At another width than that of the printed lines, the first line may begin in the middle of one. */
  #withoutPrinted(lines: readonly string[]): string[] {
    let rest = this.#printed;
    if (rest === 0) return [...lines];
    const first = lines.findIndex((line) => {
      if (rest < charactersOf([line])) return true;
      rest -= charactersOf([line]);
      return rest === 0;
    });
    const [begun = "", ...others] = first < 0 ? [] : lines.slice(first);
    const open = rest > 0 ? [withoutStart(begun, rest), ...others] : others;
    return this.#printedBlank
      ? open.slice(
          Math.max(
            0,
            open.findIndex((line) => line !== ""),
          ),
        )
      : open;
  }
}

/** The line without its first characters, not counting spaces. */
function withoutStart(line: string, characters: number): string {
  const plain = stripTerminalSequences(line);
  const [start = ""] = new RegExp(`^(?:\\s*\\S){${characters}}\\s*`).exec(plain) ?? [];
  const columns = visibleWidth(start);
  return sliceByColumn(line, columns, visibleWidth(plain) - columns);
}

function markdownTheme(theme: Theme): MarkdownTheme {
  return {
    heading: (text) => theme.bold(theme.accent(text)),
    link: theme.underline,
    linkUrl: theme.dim,
    code: theme.code,
    codeBlock: (text) => text,
    highlightCode: (code, language) => highlighted(code, language, theme),
    codeBlockBorder: theme.dim,
    quote: theme.italic,
    quoteBorder: theme.dim,
    hr: theme.dim,
    listBullet: theme.accent,
    bold: theme.bold,
    italic: theme.italic,
    strikethrough: theme.strike,
    underline: theme.underline,
  };
}

function rawOf(tokens: readonly Token[]): string {
  return tokens.map(({ raw }) => raw).join("");
}

function charactersOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + stripTerminalSequences(line).replaceAll(/\s/g, "").length, 0);
}

type CutBlock = { readonly finished: string; readonly open: string; readonly isCode: boolean };

/** A long open block in two parts; undefined for any other. `raw`: its text with blanks at its end, which `token.raw` may lack. */
function cutLong(token: Token, raw: string): CutBlock | undefined {
  if (token.type === "list" && Array.isArray(token["items"]) && token["items"].length > LONG_BLOCK) {
    const items: readonly Token[] = token["items"];
    const finished = rawOf(items.slice(0, -KEPT));
    return { finished, open: raw.slice(finished.length), isCode: false };
  }
  const lines = raw.split("\n");
  if (token.type !== "code" || lines.length <= LONG_BLOCK || !/^ {0,3}(?:`{3}|~{3})/.test(raw)) return undefined;
  const [head = ""] = lines;
  const open = [head, ...lines.slice(-KEPT)].join("\n");
  return { finished: lines.slice(0, -KEPT).join("\n"), open, isCode: true };
}
