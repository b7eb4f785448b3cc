/**
 * Remembers the model that the user chose last, in any window. New sessions use it until the user changes the settings.
 */
import * as vscode from "vscode";
import * as z from "zod";

const MEMENTO_KEY = "hermes.model";

/** Settings that select a model. A change of one overrides the remembered choice. */
export const MODEL_SETTINGS = ["model", "provider", "baseUrl"] as const;

const keptSchema = z.object({ choice: z.string(), settings: z.array(z.string()) });

export class LastModel {
  readonly #memento: vscode.Memento;

  constructor(memento: vscode.Memento) {
    this.#memento = memento;
  }

  /** Id of a choice (`openai:gpt-4.1`); undefined when nothing was chosen under the current settings. */
  get chosen(): string | undefined {
    const kept = keptSchema.safeParse(this.#memento.get(MEMENTO_KEY)).data;
    const isCurrent = JSON.stringify(kept?.settings) === JSON.stringify(presentSettings());
    return isCurrent ? kept?.choice : undefined;
  }

  async remember(choice: string): Promise<void> {
    await this.#memento.update(MEMENTO_KEY, { choice, settings: presentSettings() });
  }
}

function presentSettings(): readonly string[] {
  const configuration = vscode.workspace.getConfiguration("hermes");
  return MODEL_SETTINGS.map((name) => configuration.get(name, ""));
}
