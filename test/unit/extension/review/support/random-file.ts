// A file of any form, with an agent and a user who change it. Lines of the user carry a mark and a number of their own.
import type { Random } from "../../../approval/support/random.ts";

/**
 * Kinds of typing: one line key by key, several lines at once, more text in a line of the user's, or deleting other
 * lines.
 */
export type Typing = "line" | "lines" | "on" | "away";

const MARK = /☺\d{3}/;
/** Few and often the same, so that there are many ways to compare. */
const WORDS = ["", "", "}", "a", "b", "\ta", "𝒳 😀", "é"];
const LONG = "x😀".repeat(3000);

export class RandomFile {
  text: string;
  /** The user's lines in their order, without line ends. */
  typed: readonly string[] = [];
  readonly #random: Random;
  readonly #isMixed: boolean;
  readonly #lineEnd: () => string;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
    const lineEnds = random.pick([["\n"], ["\n"], ["\r\n"], ["\n", "\r\n"]]);
    this.#isMixed = lineEnds.length > 1;
    this.#lineEnd = () => random.pick(lineEnds);
    this.text = "";
    this.#setLines(Array.from({ length: random.pick([0, 1, 2, 5, 12]) }, () => this.#anyLine()));
    if (random.chance(0.3)) this.#toggleEnd();
  }

  /** Changes, removes and puts in lines, but leaves those of the user where they are. */
  agentEdits(): void {
    const random = this.#random;
    const rate = random.pick([0.05, 0.2, 0.6]);
    const lines = linesOf(this.text).flatMap((line): readonly string[] => {
      if (isTyped(line) || !random.chance(rate)) return [line];
      return random.pick([[], [this.#newLine()], [this.#newLine(), closed(line, this.#lineEnd())]]);
    });
    const endsWithUser = isTyped(lines.at(-1) ?? "");
    // Another line end would make it another line.
    const leavesEnd = endsWithUser && this.#isMixed;
    if (random.chance(0.3) && !leavesEnd) lines.push(this.#newLine());
    if (random.chance(0.2) && !endsWithUser) lines.splice(-1, 1, this.#newLine());
    this.#setLines(lines);
    if (random.chance(0.2) && !leavesEnd) this.#toggleEnd();
  }

  /** The file's texts one after the other while the user types. */
  userTypes(way: Typing): readonly string[] {
    const texts = this.#typing(way);
    this.text = texts.at(-1) ?? this.text;
    this.typed = typedIn(this.text);
    return texts;
  }

  #typing(way: Typing): readonly string[] {
    switch (way) {
      case "line":
        return this.#typesLine();
      case "lines":
        return [this.#with([this.#mine(), this.#mine()])];
      case "on":
        return [this.text.replace(this.#random.pick([...this.typed, "☺000"]), (line) => `${line} on`)];
      case "away": {
        const lines = linesOf(this.text);
        const at = this.#random.below(lines.length + 1);
        return isTyped(lines[at] ?? "") ? [] : [lines.toSpliced(at, 1).join("")];
      }
    }
  }

  #typesLine(): readonly string[] {
    const mine = this.#mine();
    const [before, after] = this.#split();
    const keys = ["", mine.slice(0, 1), mine.slice(0, -1), mine];
    return keys.map((typed) => before + typed + after);
  }

  #with(lines: readonly string[]): string {
    const [before, after] = this.#split();
    return before + lines.join(this.#lineEnd()) + after;
  }

  /** The text before and behind a new line somewhere. */
  #split(): readonly [string, string] {
    const lines = linesOf(this.text);
    const at = this.#random.below(lines.length + 1);
    const before = lines.slice(0, at).join("");
    const after = lines.slice(at).join("");
    if (after !== "") return [before, this.#lineEnd() + after];
    const isOpen = before !== "" && !before.endsWith("\n");
    return isOpen ? [before + this.#lineEnd(), ""] : [before, this.#random.pick(["", this.#lineEnd()])];
  }

  #mine(): string {
    this.#count += 1;
    return `☺${String(this.#count).padStart(3, "0")}`;
  }

  #anyLine(): string {
    return (this.#random.chance(0.01) ? LONG : this.#random.pick(WORDS)) + this.#lineEnd();
  }

  /** Of the agent's. Where the user has typed they all differ, so that no comparison can take their lines for moved. */
  #newLine(): string {
    if (this.typed.length === 0) return this.#anyLine();
    this.#count += 1;
    return `agent ${this.#count}${this.#lineEnd()}`;
  }

  /** Lines that have come to stand before others end. */
  #setLines(lines: readonly string[]): void {
    this.text = lines.map((line, at) => (at < lines.length - 1 ? closed(line, this.#lineEnd()) : line)).join("");
  }

  #toggleEnd(): void {
    const { text } = this;
    this.text = text.endsWith("\n") ? text.replace(/\r?\n$/, "") : text + this.#lineEnd();
  }
}

export function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== "");
}

export function isTyped(line: string): boolean {
  return MARK.test(line);
}

/** The user's lines of a text, without line ends. */
export function typedIn(text: string): readonly string[] {
  return withoutEnds(linesOf(text).filter(isTyped));
}

export function withoutEnds(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.replace(/\r?\n$/, ""));
}

function closed(line: string, lineEnd: string): string {
  return line.endsWith("\n") ? line : line + lineEnd;
}
