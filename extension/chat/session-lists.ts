/** What the agent tells about its stored sessions, passed on to whoever shows them. */
import * as vscode from "vscode";
import type { HermesBuilding } from "../../agent-core/protocol/sessions.ts";

export class SessionLists implements vscode.Disposable {
  readonly #building = new vscode.EventEmitter<HermesBuilding>();
  readonly #importing = new vscode.EventEmitter<HermesBuilding>();
  readonly #changed = new vscode.EventEmitter<void>();
  // What another window did to the sessions stands in their journals.
  readonly #subscription = vscode.window.onDidChangeWindowState(({ focused }) => focused && this.changed());

  /** How far the index of sessions is; `done` is `total` when it is done. */
  readonly onDidBuild = this.#building.event;
  /** How far an import is. */
  readonly onDidImport = this.#importing.event;
  /** A session has another title, is new, or is gone. */
  readonly onDidChange = this.#changed.event;

  building(building: HermesBuilding): void {
    this.#building.fire(building);
  }

  importing(progress: HermesBuilding): void {
    this.#importing.fire(progress);
  }

  changed(): void {
    this.#changed.fire();
  }

  dispose(): void {
    for (const one of [this.#building, this.#importing, this.#changed, this.#subscription]) one.dispose();
  }
}
