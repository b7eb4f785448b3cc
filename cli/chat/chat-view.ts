/** The screen of an interactive session: transcript, spinner, queue, request or message, and status line. */
import { type Component, ProcessTerminal } from "@earendil-works/pi-tui";
import type { Drawing } from "./activity.ts";
import { Composer } from "./composer.ts";
import { loadHighlighter } from "./highlight.ts";
import type { PromptHistory } from "./history.ts";
import { LiveScreen } from "./live-screen.ts";
import { DOT_MS, type Status, spinnerLine, statusLine } from "./status-line.ts";
import type { Theme } from "./theme.ts";
import { Transcript } from "./transcript.ts";

/** Time between redraws of streamed text; a shorter one only redraws the same lines. Milliseconds. */
const FRAME_MS = 80;
/** Share of the screen for an open answer: a screen that becomes half as wide must still hold the whole live region. */
const ANSWER_SHARE = 0.25;

export type ViewOptions = {
  readonly theme: Theme;
  readonly history: PromptHistory;
  readonly spinner: "kawaii" | "plain";
  readonly status: Status;
};

export class ChatView implements Component {
  readonly screen: LiveScreen;
  readonly composer: Composer;
  readonly transcript: Transcript;
  status: Status;
  /** Messages that wait for the end of the turn. */
  queue: readonly string[] = [];
  readonly #spinner: "kawaii" | "plain";
  #theme: Theme;
  #panel: Component | undefined;
  #turnStartedAt: number | undefined;
  #spinning: NodeJS.Timeout | undefined;
  #frame: NodeJS.Timeout | undefined;

  constructor({ theme, history, spinner, status }: ViewOptions) {
    this.screen = new LiveScreen(new ProcessTerminal());
    this.composer = new Composer(this.screen, theme, history);
    this.transcript = new Transcript(theme);
    this.status = status;
    this.#theme = theme;
    this.#spinner = spinner;
    this.screen.addChild(this);
  }

  start(): void {
    this.screen.start();
    this.screen.setFocus(this.#panel ?? this.composer);
    this.screen.renderNow(true);
  }

  /** Leaves the screen to another program or to the shell. */
  stop(): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    this.screen.removeChild(this);
    this.screen.finish(this.transcript.settle(this.#drawing(this.screen.terminal.columns), 0));
    this.screen.clearLive();
    this.screen.stop();
    this.screen.addChild(this);
  }

  setTheme(theme: Theme): void {
    this.#theme = theme;
    this.transcript.theme = theme;
    this.composer.setTheme(theme);
    this.refresh();
  }

  get theme(): Theme {
    return this.#theme;
  }

  beginTurn(): void {
    this.#turnStartedAt = Date.now();
    this.composer.isBusy = true;
    void loadHighlighter(); // while the model thinks
    this.#spinning ??= setInterval(() => {
      if (!this.transcript.isAnswering) this.screen.requestRender();
    }, DOT_MS);
    this.refresh();
  }

  endTurn(): void {
    this.#turnStartedAt = undefined;
    this.composer.isBusy = false;
    clearInterval(this.#spinning);
    this.#spinning = undefined;
    this.transcript.endTurn();
    this.screen.requestRender();
  }

  /** Draws soon. */
  refresh(): void {
    this.#frame ??= setTimeout(() => {
      this.#frame = undefined;
      this.screen.requestRender();
    }, FRAME_MS);
  }

  /** Shows a panel in place of the message until `answer` settles. */
  async show<T>(panel: Component, answer: Promise<T>): Promise<T> {
    const before = this.#panel;
    this.#panel = panel;
    this.screen.setFocus(panel);
    this.screen.requestRender();
    try {
      return await answer;
    } finally {
      this.#panel = before;
      this.screen.setFocus(before ?? this.composer);
      this.screen.requestRender();
    }
  }

  get hasPanel(): boolean {
    return this.#panel !== undefined;
  }

  invalidate(): void {
    this.composer.invalidate();
  }

  render(width: number): readonly string[] {
    const drawing = this.#drawing(width);
    const below = this.#below(drawing);
    const room = Math.max(1, this.screen.liveRows - below.length);
    const open = Math.min(room, Math.ceil(this.screen.liveRows * ANSWER_SHARE));
    this.screen.finish(this.transcript.settle(drawing, open));
    const live = this.transcript.live(drawing).slice(-room);
    return [...live, ...below];
  }

  #drawing(width: number): Drawing {
    return { theme: this.#theme, width };
  }

  #below(drawing: Drawing): readonly string[] {
    const { width } = drawing;
    const started = this.#turnStartedAt;
    const isAsked = this.#panel !== undefined || this.composer.hint !== "";
    const isSpinning = started !== undefined && !this.transcript.isAnswering && !isAsked;
    return [
      "",
      ...(isSpinning ? [spinnerLine(this.#spinner, Date.now() - started, drawing)] : []),
      ...this.queue.map((text) => this.#theme.dim(`  ⏳ ${text.split("\n", 1)[0] ?? ""}`)),
      ...(this.#panel ?? this.composer).render(width),
      statusLine(this.status, drawing),
    ];
  }
}
