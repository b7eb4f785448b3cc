/**
 * Screen of a command in a VS Code terminal: shows its output, also from before the opening, and edits the line that
 * the user types.
 */
import * as vscode from "vscode";
import { KEYS } from "../../agent-core/platform/ansi.ts";

export type ScreenInput = {
  /** `line`: read by lines from a pipe; `raw`: a pseudo-terminal of its own; `none`: the program has no input. */
  readonly kind: "none" | "line" | "raw";
  send(text: string): void;
  end(): void;
  interrupt(): void;
};

export class Screen implements vscode.Pseudoterminal {
  readonly #writes = new vscode.EventEmitter<string>();
  readonly #input: ScreenInput;
  readonly #line: LineInput;
  #early: string | undefined = "";
  #isOver = false as boolean;
  #isHintShown = false as boolean;

  readonly onDidWrite = this.#writes.event;

  constructor(input: ScreenInput) {
    this.#input = input;
    this.#line = new LineInput({
      echo: (text) => this.print(text),
      send: (text) => input.send(text),
      interrupt: () => input.interrupt(),
      end: () => input.end(),
    });
  }

  /** Prints text with carriage returns. */
  print(text: string): void {
    if (this.#early === undefined) this.#writes.fire(text);
    else this.#early += text;
  }

  /** Prints a dimmed line of ours. */
  note(text: string): void {
    this.print(`\u001b[2m${text}\u001b[0m\r\n`);
  }

  /** Ignores keys after the command's end. */
  over(): void {
    this.#isOver = true;
  }

  open(): void {
    const early = this.#early ?? "";
    this.#early = undefined;
    this.#writes.fire(early);
  }

  /** VS Code's event reports the closing, also of a terminal that was never drawn. */
  close(): void {
    this.#isOver = true;
  }

  handleInput(data: string): void {
    if (this.#isOver) return;
    if (this.#input.kind === "raw") this.#input.send(data);
    else if (this.#input.kind === "line") this.#line.type(data);
    else if (data === "\u0003") this.#input.interrupt();
    else if (!this.#isHintShown) {
      this.#isHintShown = true;
      this.note(vscode.l10n.t("This command takes no input. Ctrl+C stops it."));
    }
  }
}

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
