/** Suggests the active file, or the lines that are selected in it, for the next message. */
import * as vscode from "vscode";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import type { Panels } from "../chat/panels.ts";
import { nameOf } from "./workspace-files.ts";

/** The suggestion follows when the caret has rested for this time. Milliseconds. */
const REST_MS = 150;

/** Key of the workspace's memory for the switch in the panel, which comes before the setting. */
const SWITCH_KEY = "hermes.suggestActive";
const SETTING = "context.suggestActive";

export class Suggestion implements vscode.Disposable {
  readonly #panels: Panels;
  readonly #memory: vscode.Memento;
  readonly #subscriptions: readonly vscode.Disposable[];
  #timer: NodeJS.Timeout | undefined;
  #shown = "[]";

  constructor(panels: Panels, memory: vscode.Memento) {
    this.#panels = panels;
    this.#memory = memory;
    const soon = (): void => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#update(), REST_MS);
    };
    this.#subscriptions = [
      vscode.window.onDidChangeActiveTextEditor(soon),
      vscode.window.onDidChangeTextEditorSelection(
        ({ textEditor }) => textEditor === vscode.window.activeTextEditor && soon(),
      ),
      vscode.workspace.onDidChangeConfiguration(async (change) => {
        if (!change.affectsConfiguration(`hermes.${SETTING}`)) return;
        await this.#memory.update(SWITCH_KEY, undefined);
        this.#update();
      }),
    ];
    this.#update();
  }

  /** Remembers the switch for this workspace. */
  async switch(on: boolean): Promise<void> {
    await this.#memory.update(SWITCH_KEY, on);
    this.#update();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #update(): void {
    const setting = vscode.workspace.getConfiguration("hermes").get(SETTING, true);
    const isSuggesting = this.#memory.get(SWITCH_KEY, setting);
    const attachment = isSuggesting ? editorAttachment() : undefined;
    const suggested = attachment === undefined ? [] : [attachment];
    const next = JSON.stringify({ suggested, isSuggesting });
    if (next === this.#shown) return;
    this.#shown = next;
    this.#panels.setFacts({ suggested, isSuggesting });
  }
}

/** The selection of the active editor, else its file; undefined without a file of the workspace. */
export function editorAttachment(editor = vscode.window.activeTextEditor): Attachment | undefined {
  if (editor === undefined) return undefined;
  const { document, selection } = editor;
  const { uri } = document;
  if (uri.scheme !== "file" || vscode.workspace.getWorkspaceFolder(uri) === undefined) return undefined;
  if (selection.isEmpty) return { kind: "file", uri: uri.toString(), label: nameOf(uri) };
  const start = selection.start.line + 1;
  // A selection that ends before the first character of a line has nothing of it.
  const end = Math.max(start, selection.end.line + (selection.end.character === 0 ? 0 : 1));
  return {
    kind: "lines",
    uri: uri.toString(),
    label: `${nameOf(uri)}:${start}${end > start ? `-${end}` : ""}`,
    start,
    end,
  };
}
