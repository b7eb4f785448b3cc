/** Number of requests and edits that wait for the user. */
import * as vscode from "vscode";

export class AttentionCounter implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<number>();
  #requests = 0;
  #edits = 0;

  /** The sum of both. */
  readonly onDidChange = this.#changed.event;

  setRequests(count: number): void {
    this.#requests = count;
    this.#changed.fire(this.#requests + this.#edits);
  }

  setEdits(count: number): void {
    this.#edits = count;
    this.#changed.fire(this.#requests + this.#edits);
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
