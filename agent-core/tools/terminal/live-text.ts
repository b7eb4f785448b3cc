/** Output as it comes, for people who look on: pieces of text without escape sequences, also where one is torn. */
import { CONTROL_CHARACTERS, ESCAPE_SEQUENCES, OPEN_SEQUENCE } from "../../platform/ansi.ts";

/** What is longer is no sequence that was torn. Characters. */
const MAX_HELD_CHARS = 4_096;

export class LiveText {
  #held = "";

  /** Gives what of the piece can be shown by now. A redrawn line becomes a further line. */
  push(piece: string): string {
    const text = this.#held + piece;
    const shown = text.slice(0, whole(text));
    this.#held = text.slice(shown.length);
    return shown
      .replace(ESCAPE_SEQUENCES, "")
      .replace(/\r+\n?/g, "\n")
      .replace(CONTROL_CHARACTERS, "");
  }
}

/** How much of the text is complete: a carriage return waits for its line break, a sequence for its end. */
function whole(text: string): number {
  const end = text.slice(-MAX_HELD_CHARS);
  const open = OPEN_SEQUENCE.exec(end) ?? /\r+$/.exec(end);
  return open === null ? text.length : text.length - end.length + open.index;
}
