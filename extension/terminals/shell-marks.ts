/** What a shell with integration prints around a command: marks (OSC 633, 133) and its prompt, which are not its output. */

const ESC = "\u001b";
const BELL = "\u0007";
/** Groups: the mark's letter. */
const MARK = new RegExp(`${ESC}\\][16]33;([^${BELL}${ESC};]*)[^${BELL}${ESC}]*(?:${BELL}|${ESC}\\\\)`, "g");
/** The beginning of a mark whose end is still to come. */
const OPEN_MARK = new RegExp(`${ESC}(?:\\](?:[16](?:3(?:3(?:;[^${BELL}${ESC}]*${ESC}?)?)?)?)?)?$`);
/** No mark is longer; what is held back beyond this is text. Characters. */
const MAX_MARK = 65_536;

/** Takes the pieces of one command as they come, torn anywhere. */
export class ShellMarks {
  #held = "";
  /** After the mark of the command's end comes the prompt. */
  #isPrompt = false as boolean;

  /** Gives what is the command's own of all that is complete; colours stay. */
  push(piece: string): string {
    const text = this.#held + piece;
    const open = OPEN_MARK.exec(text);
    this.#held = open !== null && text.length - open.index <= MAX_MARK ? open[0] : "";
    return this.#withoutMarks(text.slice(0, text.length - this.#held.length));
  }

  /** Gives what was held back: no mark came of it. */
  end(): string {
    const rest = this.#isPrompt ? "" : this.#held;
    this.#held = "";
    return rest;
  }

  #withoutMarks(text: string): string {
    let own = "";
    let from = 0;
    for (const match of text.matchAll(MARK)) {
      if (!this.#isPrompt) own += text.slice(from, match.index);
      from = match.index + match[0].length;
      if (match[1] === "D") this.#isPrompt = true;
      else if (match[1] === "C") this.#isPrompt = false;
    }
    return this.#isPrompt ? own : own + text.slice(from);
  }
}
