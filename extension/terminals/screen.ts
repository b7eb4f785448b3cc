/** What a VS Code terminal shows of a command, also of what was printed before it was opened, and what is typed there. */
import * as vscode from "vscode";
import { LineInput } from "./line-input.ts";

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

  /** Text as a terminal takes it: with carriage returns. */
  print(text: string): void {
    if (this.#early === undefined) this.#writes.fire(text);
    else this.#early += text;
  }

  /** A line of ours, set off from the command's own. */
  note(text: string): void {
    this.print(`\u001b[2m${text}\u001b[0m\r\n`);
  }

  /** The command is over: nothing that is typed has a meaning any more. */
  over(): void {
    this.#isOver = true;
  }

  open(): void {
    const early = this.#early ?? "";
    this.#early = undefined;
    this.#writes.fire(early);
  }

  /** Closing is told of by VS Code's event, which also comes for a terminal that was never drawn. */
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
      this.note("This command takes no input. Ctrl+C stops it.");
    }
  }
}
