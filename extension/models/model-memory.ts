/** The model that the user chose last, in any window: new sessions begin with it. */
import type * as vscode from "vscode";

const MEMENTO_KEY = "hermes.model";

export class ModelMemory {
  readonly #memento: vscode.Memento;

  constructor(memento: vscode.Memento) {
    this.#memento = memento;
  }

  /** Id of a choice (`openai:gpt-4.1`); undefined when nothing was chosen: the configuration decides. */
  get chosen(): string | undefined {
    return this.#memento.get<string>(MEMENTO_KEY);
  }

  async remember(choice: string | undefined): Promise<void> {
    await this.#memento.update(MEMENTO_KEY, choice);
  }
}
