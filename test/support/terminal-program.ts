/** A program in a real pseudo-terminal, whose screen an emulator holds. */
import { setTimeout as delay } from "node:timers/promises";
import { spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";

/** Longer than a request's time without keys. Milliseconds. */
const REPEAT_MS = 500;
/** Longer than two frames of the program. Milliseconds. */
const SETTLED_MS = 250;
/** Lines of the screen in an error. */
const SHOWN_LINES = 60;

export type TerminalOptions = {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
};

export type Cell = {
  readonly text: string;
  /** Number in the palette; undefined: the terminal's own. */
  readonly color: number | undefined;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly column: number;
};

export class TerminalProgram {
  readonly #pty: ReturnType<typeof spawn>;
  readonly #screen: InstanceType<typeof headless.Terminal>;
  /** All bytes that the program wrote. */
  written = "";
  /** Exit code, once the screen shows all that the program wrote. */
  readonly exited: Promise<number>;
  #drawn: Promise<void> = Promise.resolve();

  constructor(file: string, args: readonly string[], { columns = 80, rows = 24, cwd, environment }: TerminalOptions) {
    this.#screen = new headless.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
    this.#pty = spawn(file, [...args], {
      name: environment["TERM"] || "xterm-256color",
      cols: columns,
      rows,
      cwd,
      env: { ...environment },
    });
    this.#pty.onData((data) => {
      this.written += data;
      this.#drawn = new Promise((resolve) => this.#screen.write(data, resolve));
    });
    this.#screen.onData((answer) => this.#pty.write(answer));
    const ended = new Promise<number>((resolve) => this.#pty.onExit(({ exitCode }) => resolve(exitCode)));
    this.exited = ended.then(async (exitCode) => {
      await this.#drawn;
      return exitCode;
    });
  }

  /** Settles with the next bytes that the program writes. */
  nextOutput(): Promise<void> {
    return new Promise((resolve) => {
      const listener = this.#pty.onData(() => {
        listener.dispose();
        resolve();
      });
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  /** A slow line: the terminal reads for a moment every `everyMs`, and the program's writes wait. Returns its end. */
  slowDown(everyMs: number): () => void {
    this.#pty.pause();
    const timer = setInterval(() => {
      this.#pty.resume();
      setImmediate(() => this.#pty.pause());
    }, everyMs);
    return () => {
      clearInterval(timer);
      this.#pty.resume();
    };
  }

  kill(signal: string): void {
    this.#pty.kill(signal);
  }

  /** Lines of the scrollback and the screen, without the empty ones at the end. */
  get lines(): readonly string[] {
    const { active } = this.#screen.buffer;
    const all = Array.from(
      { length: active.length },
      (_, index) => active.getLine(index)?.translateToString(true) ?? "",
    );
    return all.slice(0, all.findLastIndex((line) => line !== "") + 1);
  }

  get text(): string {
    return this.lines.join("\n");
  }

  /** Cells of the screen, in rows. */
  get cells(): readonly (readonly Cell[])[] {
    const { active } = this.#screen.buffer;
    return Array.from({ length: this.#screen.rows }, (_, row) => {
      const line = active.getLine(active.baseY + row);
      return Array.from({ length: this.#screen.cols }, (_, column) => {
        const cell = line?.getCell(column);
        return {
          text: cell?.getChars() ?? "",
          color: cell?.isFgPalette() ? cell.getFgColor() : undefined,
          isBold: Boolean(cell?.isBold()),
          isDim: Boolean(cell?.isDim()),
          column,
        };
      });
    });
  }

  /** Cell of the cursor on the screen. */
  get cursor(): { readonly row: number; readonly col: number; readonly line: string } {
    const { active } = this.#screen.buffer;
    const line = active.getLine(active.baseY + active.cursorY)?.translateToString(true) ?? "";
    return { row: active.cursorY, col: active.cursorX, line };
  }

  /** True while the terminal marks pastes, as a program in raw mode asks it to. */
  get marksPastes(): boolean {
    return this.#screen.modes.bracketedPasteMode;
  }

  get showsCursor(): boolean {
    return this.written.lastIndexOf("\u001b[?25l") <= this.written.lastIndexOf("\u001b[?25h");
  }

  /** Settles when the screen shows what is expected. Rejects after 20 s with the screen. */
  async until(expected: string | RegExp | ((text: string) => boolean)): Promise<void> {
    const isShown = (text: string): boolean => {
      if (typeof expected === "string") return text.includes(expected);
      return typeof expected === "function" ? expected(text) : expected.test(text);
    };
    const end = performance.now() + 60_000;
    while (!isShown(this.text)) {
      if (performance.now() > end)
        throw new Error(
          `The terminal does not show ${String(expected)}:\n${this.lines.slice(-SHOWN_LINES).join("\n")}`,
        );
      await Promise.race([this.#next(), this.exited]);
    }
  }

  /** Types the keys again and again until the condition holds: those that come too early count for nothing. */
  async untilTyped(keys: string, isReached: () => boolean): Promise<void> {
    const end = performance.now() + 60_000;
    while (!isReached()) {
      if (performance.now() > end) throw new Error(`The keys ${keys} changed nothing:\n${this.text}`);
      await delay(REPEAT_MS);
      if (!isReached()) this.type(keys);
      await this.#next();
    }
  }

  /** Settles when the program has drawn nothing for a while. */
  async settled(): Promise<void> {
    for (let before = -1; before !== this.written.length; ) {
      before = this.written.length;
      await delay(SETTLED_MS);
    }
  }

  /** Ends the program if it still runs. */
  async end(): Promise<void> {
    this.#pty.kill("SIGKILL");
    await this.exited;
    this.#screen.dispose();
  }

  /** Settles with the next change of the screen, or soon. */
  async #next(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, 50);
      const listener = this.#screen.onWriteParsed(done);
      function done(): void {
        clearTimeout(timer);
        listener.dispose();
        resolve();
      }
    });
  }
}
