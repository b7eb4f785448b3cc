/** What a shell with integration prints around a command: marks (OSC 633, 133) and its prompt, which are not its output. */
import { ESCAPE_SEQUENCES, OPEN_SEQUENCE } from "../../agent-core/platform/ansi.ts";

/** Body of a mark: OSC 633 of VS Code, OSC 133 of other terminals, with the mark's letter. */
const MARK = /^[16]33;([^;]*)/;
/** No mark is longer; text that was held back beyond this is output. Characters. */
const MAX_MARK = 65_536;

/** Takes the pieces of one command as they come, torn anywhere. */
export class ShellMarks {
  #held = "";
  /** After the mark of the command's end comes the prompt. */
  #isPrompt = false as boolean;

  /** Gives what is the command's own of all that is complete; colours stay. */
  push(piece: string): string {
    const text = this.#held + piece;
    const open = OPEN_SEQUENCE.exec(text);
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
    for (const match of text.matchAll(ESCAPE_SEQUENCES)) {
      const mark = match[4] ? MARK.exec(match[3] ?? "") : null;
      if (mark === null) continue;
      if (!this.#isPrompt) own += text.slice(from, match.index);
      from = match.index + match[0].length;
      if (mark[1] === "D") this.#isPrompt = true;
      else if (mark[1] === "C") this.#isPrompt = false;
    }
    return this.#isPrompt ? own : own + text.slice(from);
  }
}
