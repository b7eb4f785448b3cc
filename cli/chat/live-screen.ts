/**
 * The terminal's main screen. Finished lines are printed once and never change. Below them is the live region, lower than
 * the screen, which alone is redrawn. The scrollback is never cleared.
 */
import { type Terminal, TuiMainScreen, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

/** Changes inside the parentheses appear at once, in terminals that know them. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
const RESET = "\u001b[0m";
const ESCAPE = "\u001b";
const ERASE_LINE_END = "\u001b[K";
const ERASE_BELOW = "\u001b[J";

/** A cell of the live region. */
type Place = { readonly row: number; readonly col: number };

export class LiveScreen extends TuiMainScreen {
  /** Waiting to be printed above the live region. */
  #finished: string[] = [];
  /** The live region as it is drawn. */
  #drawn: readonly string[] = [];
  #cursor: Place = { row: 0, col: 0 };
  /** Columns at the last drawing; 0 before the first. */
  #columns = 0;
  #isCursorShown = false;
  /** xterm alone cuts long lines when it becomes narrower; others wrap them. */
  readonly #wraps: boolean = process.env["XTERM_VERSION"] === undefined;

  constructor(terminal: Terminal) {
    super(terminal, true);
  }

  /** The next frame prints these lines into the scrollback. */
  finish(lines: readonly string[]): void {
    this.#finished.push(...lines);
  }

  /** Lines that the live region may have. */
  get liveRows(): number {
    return Math.max(1, this.terminal.rows - 1);
  }

  /** Forgets the drawn region: another program has used the screen since. */
  protected override resetRenderState(): void {
    this.#drawn = [];
    this.#cursor = { row: 0, col: 0 };
    this.#isCursorShown = false;
  }

  /** Leaves the cursor on a line of its own below everything. */
  protected override beforeTerminalStop(): void {
    const last = this.#drawn.length - 1;
    if (last < 0) return;
    this.terminal.write(`${vertically(last - this.#cursor.row)}${last > 0 || this.#cursor.col > 0 ? "\r\n" : ""}`);
    this.resetRenderState();
  }

  /** Erases the live region, and prints what is left. */
  clearLive(): void {
    this.clear();
    this.renderNow();
    this.#drawn = [];
  }

  protected override doRender(): void {
    if (this.stopped) return;
    const { columns, rows } = this.terminal;
    const rendered = this.resolveFakeCursors(this.render(columns)).slice(-this.liveRows);
    const place = this.extractCursorPosition(rendered, rows);
    const live = rendered.length === 0 ? [""] : rendered.map((line) => fitted(line, columns));
    const isResized = this.#columns !== 0 && this.#columns !== columns;
    const finished = this.#finished.map((line) => fitted(line, columns));
    const next = [...finished, ...live];
    const output = isResized ? this.#redraw(next, columns) : this.#update(next);
    const top = finished.length;
    this.#columns = columns;
    this.#drawn = live;
    this.#finished = [];
    const moved = this.#place(place ?? { row: Math.max(0, live.length - 1), col: 0 }, top);
    const text = `${output}${moved}`;
    this.#showCursor(place !== null);
    if (text === "") return;
    this.terminal.write(
      output.includes(ERASE_LINE_END) || output.includes(ERASE_BELOW) ? `${BEGIN}${text}${END}` : text,
    );
  }

  #showCursor(isShown: boolean): void {
    if (isShown === this.#isCursorShown) return;
    this.#isCursorShown = isShown;
    if (isShown) this.terminal.showCursor();
    else this.terminal.hideCursor();
  }

  /** After a change of the width the terminal has wrapped the drawn lines again: the whole region is drawn anew. */
  #redraw(next: readonly string[], columns: number): string {
    const above = this.#drawn.slice(0, this.#cursor.row);
    const rows = above.reduce(
      (sum, line) => sum + (this.#wraps ? Math.max(1, Math.ceil(visibleWidth(line) / columns)) : 1),
      0,
    );
    this.#cursor = { row: next.length - 1, col: Number.NaN };
    return `${vertically(-rows)}\r${ERASE_BELOW}${next.map(closed).join("\r\n")}`;
  }

  /** Changes the drawn lines to `next`, which grows at the bottom. */
  #update(next: readonly string[]): string {
    let output = "";
    for (const [index, line] of next.entries()) {
      const old = this.#drawn[index];
      if (old === line) continue;
      output += this.#moveTo(index, old === undefined);
      // The plain text only grew.
      if (old && line.startsWith(old) && !line.includes(ESCAPE)) {
        output += `${horizontally(visibleWidth(old))}${line.slice(old.length)}`;
      } else {
        output += `\r${closed(line)}${old === undefined || old === "" ? "" : ERASE_LINE_END}`;
      }
      this.#cursor = { row: index, col: Number.NaN };
    }
    if (this.#drawn.length > next.length) {
      output +=
        next.length === 0
          ? `${this.#moveTo(0, false)}\r${ERASE_BELOW}`
          : `${this.#moveTo(next.length, false)}\r${ERASE_BELOW}`;
      this.#cursor = { row: next.length, col: 0 };
    }
    return output;
  }

  #moveTo(row: number, isNew: boolean): string {
    const from = this.#cursor.row;
    if (!isNew) {
      this.#cursor = { row, col: Number.NaN };
      return vertically(row - from);
    }
    // The line before a new one is drawn; a line feed from there makes the screen scroll.
    const output = row === 0 ? "" : `${vertically(row - 1 - from)}\r\n`;
    this.#cursor = { row, col: 0 };
    return output;
  }

  /** Puts the cursor into the live region. `top`: row where it begins, by the counting of `#cursor`. */
  #place({ row, col }: Place, top: number): string {
    const from = this.#cursor.row - top;
    const isThere = from === row && this.#cursor.col === col;
    this.#cursor = { row, col };
    return isThere ? "" : `${vertically(row - from)}${horizontally(col)}`;
  }
}

/** Without the spaces at its end, which would wrap on a narrower screen, and not wider than the screen. */
function fitted(line: string, columns: number): string {
  const trimmed = line.replace(/ +$/, "");
  return visibleWidth(trimmed) > columns ? truncateToWidth(trimmed, columns, "…") : trimmed;
}

/** Styles end with their line. */
function closed(line: string): string {
  return line.includes(ESCAPE) && !line.endsWith(RESET) ? `${line}${RESET}` : line;
}

function vertically(rows: number): string {
  if (rows === 0) return "";
  return rows > 0 ? `${ESCAPE}[${rows}B` : `${ESCAPE}[${-rows}A`;
}

function horizontally(col: number): string {
  return `${ESCAPE}[${col + 1}G`;
}
