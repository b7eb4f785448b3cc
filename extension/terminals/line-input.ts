/** Line editing for a program that reads a pipe: echo, corrections, Ctrl+C and Ctrl+D as in a terminal. */
import { KEYS } from "../../agent-core/platform/ansi.ts";

export type LineInputEvents = {
  /** Shows typed text. */
  echo(text: string): void;
  /** Sends input to the program. */
  send(text: string): void;
  /** Ctrl+C. */
  interrupt(): void;
  /** Ctrl+D on an empty line. */
  end(): void;
};

const ERASE_CELL = "\b \b";

export class LineInput {
  readonly #events: LineInputEvents;
  /** Characters of the current line. */
  #line: string[] = [];

  constructor(events: LineInputEvents) {
    this.#events = events;
  }

  /** Handles one key, or pasted text. */
  type(data: string): void {
    for (const [key] of data.matchAll(KEYS)) this.#key(key);
  }

  #key(key: string): void {
    switch (key) {
      case "\r":
      case "\n":
      case "\r\n":
        this.#events.echo("\r\n");
        this.#flush("\n");
        break;
      case "\u007f":
      case "\b":
        if (this.#line.pop() !== undefined) this.#events.echo(ERASE_CELL);
        break;
      case "\u0015": // Ctrl+U
        this.#events.echo(ERASE_CELL.repeat(this.#line.length));
        this.#line = [];
        break;
      case "\u0003":
        this.#line = [];
        this.#events.echo("^C\r\n");
        this.#events.interrupt();
        break;
      case "\u0004":
        if (this.#line.length > 0) this.#flush("");
        else this.#events.end();
        break;
      default:
        if (key !== "\t" && /^\p{Cc}/u.test(key)) return;
        this.#line.push(key);
        this.#events.echo(key);
    }
  }

  #flush(ending: string): void {
    this.#events.send(this.#line.join("") + ending);
    this.#line = [];
  }
}
