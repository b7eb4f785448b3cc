/** Suggests the file in front, or the lines that are selected in it, for the next message. */
import * as vscode from "vscode";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import type { Panels } from "../chat/panels.ts";
import { nameOf } from "./workspace-files.ts";

/** Rest of the caret after which the suggestion follows it. Milliseconds. */
const REST_MS = 150;

/** Key of the workspace's memory for the switch in the panel, which comes before the setting. */
const SWITCH_KEY = "hermes.suggestActive";
const SETTING = "context.suggestActive";

type SuggestionPorts = {
  readonly panels: Pick<Panels, "setFacts">;
  readonly memory: vscode.Memento;
};

export class Suggestion implements vscode.Disposable {
  readonly #panels: SuggestionPorts["panels"];
  readonly #memory: vscode.Memento;
  readonly #subscriptions: readonly vscode.Disposable[];
  #timer: NodeJS.Timeout | undefined;
  #shown = "";

  constructor({ panels, memory }: SuggestionPorts) {
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

/** Undefined for what is not a file of the workspace. */
function fileAttachment(uri: vscode.Uri): Attachment | undefined {
  if (uri.scheme !== "file" || vscode.workspace.getWorkspaceFolder(uri) === undefined) return undefined;
  return { kind: "file", uri: uri.toString(), label: nameOf(uri) };
}

/**
 * The selection of the active editor, else its file; undefined without a file of the workspace. A text that is not saved yet
 * has no file to read, so its lines are attached.
 */
export function editorAttachment(editor = vscode.window.activeTextEditor): Attachment | undefined {
  if (editor === undefined) return undefined;
  const { document, selection } = editor;
  const { uri } = document;
  if (uri.scheme === "untitled" && selection.isEmpty) return unsavedAttachment(uri);
  const file = fileAttachment(uri);
  if (uri.scheme !== "untitled" && (file === undefined || selection.isEmpty)) return file;
  return linesOf(uri, selection);
}

/** The lines of a range. A range that ends at the start of a line does not include that line. */
export function linesOf(uri: vscode.Uri, { start, end }: vscode.Range): Attachment & { kind: "lines" } {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  const [from, to] = [start.line + 1, last + 1];
  const lines = from === to ? `${from}` : `${from}-${to}`;
  return { kind: "lines", uri: uri.toString(), label: `${nameOf(uri)}:${lines}`, start: from, end: to };
}

/** All lines of a text that has no file yet; undefined for an empty one, and for a file. */
export function unsavedAttachment(uri: vscode.Uri): Attachment | undefined {
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (document?.isUntitled !== true || document.getText().trim() === "") return undefined;
  return { kind: "lines", uri: uri.toString(), label: nameOf(uri), start: 1, end: document.lineCount };
}
