/** Removes the marks (OSC 633, 133) and the prompt that a shell with integration prints around a command. */
import { ESCAPE_SEQUENCES, OPEN_SEQUENCE } from "../../agent-core/platform/ansi.ts";

/** Body of a mark: OSC 633 of VS Code, OSC 133 of other terminals, with the mark's letter. */
const MARK = /^[16]33;([^;]*)/;
/** No mark is longer; text that was held back beyond this is output. Characters. */
const MAX_MARK = 65_536;

/** Reads the output of one command in pieces of any size. */
export class ShellMarks {
  #held = "";
  /** True between the mark of a command's end and the next command. */
  #isPrompt = false as boolean;

  /** Gives the complete part of the command's own output; colours stay. */
  push(piece: string): string {
    const text = this.#held + piece;
    const open = OPEN_SEQUENCE.exec(text);
    this.#held = open !== null && text.length - open.index <= MAX_MARK ? open[0] : "";
    return this.#withoutMarks(text.slice(0, text.length - this.#held.length));
  }

  /** Gives the text that was held because a mark could follow, and none did. */
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
