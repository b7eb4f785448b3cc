/** The status bar item: what the agent does, and whether it waits for the user. */
import * as vscode from "vscode";
import type { Sessions } from "./chat/sessions.ts";

/** A longer name would push other items out of the bar. Characters. */
const NAME_CHARS = 24;

export class StatusItem implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("hermes.status", vscode.StatusBarAlignment.Right, 100);
  #isRunning = false as boolean;
  #waiting = 0;
  /** Undefined: not known yet. */
  #model: string | undefined;

  constructor() {
    this.#item.name = "Hermes";
    this.#item.command = "hermes.focusChat";
    this.#render();
    this.#item.show();
  }

  /** Shows what the session does and which model answers, until what it returns is disposed of. */
  follow(sessions: Sessions): vscode.Disposable {
    return sessions.onDidChange(() => {
      const { isRunning } = sessions.shown;
      this.#isRunning = isRunning;
      this.#model = sessions.shown.option("model")?.currentName;
      this.#render();
    });
  }

  waiting(count: number): void {
    this.#waiting = count;
    this.#render();
  }

  dispose(): void {
    this.#item.dispose();
  }

  #render(): void {
    const asks = this.#waiting > 0;
    const running = this.#isRunning;
    const runningIcon = running ? "$(loading~spin)" : "$(sparkle)";
    const model = this.#model === undefined ? "" : ` · ${short(this.#model)}`;
    this.#item.text = asks ? "$(bell-dot) Hermes asks" : `${runningIcon} Hermes${model}`;
    this.#item.backgroundColor = asks ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    const what = this.#model === undefined ? "" : `, with ${this.#model}`;
    const working = `${running ? "Hermes is working" : "Hermes is ready"}${what}`;
    this.#item.tooltip = asks ? "Hermes waits for your answer" : working;
    this.#item.accessibilityInformation = { label: this.#item.tooltip };
  }
}

/** Without what explains it in brackets; the tooltip has it all. */
function short(name: string): string {
  const plain = name.replace(/ \(.*\)$/, "");
  return plain.length > NAME_CHARS ? `${plain.slice(0, NAME_CHARS - 1)}…` : plain;
}
