/** The status bar item: what the agent does, and whether it waits for the user. */
import * as vscode from "vscode";
import type { ChatState } from "./chat/chat-session.ts";

export class StatusItem implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("hermes.status", vscode.StatusBarAlignment.Right, 100);
  #state: ChatState = "idle";
  #waiting = 0;

  constructor() {
    this.#item.name = "Hermes";
    this.#item.command = "hermes.focusChat";
    this.#render();
    this.#item.show();
  }

  state(state: ChatState): void {
    this.#state = state;
    this.#render();
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
    const running = this.#state === "running";
    const runningIcon = running ? "$(loading~spin)" : "$(sparkle)";
    this.#item.text = asks ? "$(bell-dot) Hermes asks" : `${runningIcon} Hermes`;
    this.#item.backgroundColor = asks ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    const working = running ? "Hermes is working" : "Hermes is ready";
    this.#item.tooltip = asks ? "Hermes waits for your answer" : working;
    this.#item.accessibilityInformation = { label: this.#item.tooltip };
  }
}
