/** Screen of a command in a VS Code terminal: shows its output, also from before the opening, and takes typed keys. */
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
