/** The options of the session in the panel: mode, model, reasoning effort, as the agent told them last. */
import type { SessionConfigOption, SessionConfigSelectOption } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";

/** An option that is a choice from a list. */
export type SelectedOption = {
  readonly id: string;
  readonly currentValue: string;
  /** For people. */
  readonly currentName: string;
  readonly choices: readonly SessionConfigSelectOption[];
};

export class SessionOptions implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  #options: readonly SessionConfigOption[] = [];

  readonly onDidChange = this.#changed.event;

  set(options: readonly SessionConfigOption[]): void {
    this.#options = options;
    this.#changed.fire();
  }

  /** By ACP's category: `mode`, `model`, `thought_level`. */
  get(category: string): SelectedOption | undefined {
    const option = this.#options.find((candidate) => candidate.category === category);
    if (option?.type !== "select") return undefined;
    const { id, currentValue } = option;
    const choices = option.options.flatMap((item) => ("group" in item ? item.options : [item]));
    const currentName = choices.find(({ value }) => value === currentValue)?.name ?? currentValue;
    return { id, currentValue, currentName, choices };
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
