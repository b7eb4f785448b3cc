/** Edits at the cursor: an instruction goes to a session in the background, whose edit is reviewed in the file. */
import type { ToolCallContent } from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import { truncate } from "../../agent-core/platform/one-line.ts";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import type { ChatSession } from "../chat/chat-session.ts";
import type { Sessions } from "../chat/sessions.ts";
import { showError, showInformation } from "../notifications.ts";
import { inlinePrompt } from "./action-prompts.ts";
import { editorInUse, linesAt } from "./code-at-cursor.ts";

/** Context key: an edit at a cursor runs. */
const IS_EDITING = "hermes.isEditingInline";

/** Part of an answer that a notification shows. Characters. */
const ANSWER_CHARS = 400;

const SHOW = vscode.l10n.t("Show Session");

type RunningEdit = { readonly uri: vscode.Uri; line: number; readonly session: ChatSession; progress: InlineProgress };

export class InlineEdits implements vscode.Disposable {
  readonly #running = new Set<RunningEdit>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscription: vscode.Disposable;
  readonly #sessions: Sessions;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
    this.#subscription = vscode.Disposable.from(
      this.#changed,
      vscode.languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: "untitled" }], {
        onDidChangeCodeLenses: this.#changed.event,
        provideCodeLenses: ({ uri }) => this.#lensesOf(uri),
      }),
      vscode.workspace.onDidChangeTextDocument((change) => this.#move(change)),
    );
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /** Asks for an instruction, and starts a session that carries it out. */
  async start(): Promise<void> {
    const editor = await editorInUse();
    if (editor === undefined) return;
    const { document, selection } = editor;
    const lines = linesAt(editor);
    const cursor = `${vscode.workspace.asRelativePath(document.uri)}:${selection.active.line + 1}`;
    const instruction = await vscode.window.showInputBox({
      title: vscode.l10n.t("Edit with Hermes at {0}", cursor),
      prompt: vscode.l10n.t(
        "The edit appears in the file, where you keep or undo it. Hermes also answers questions here.",
      ),
      placeHolder: vscode.l10n.t("What to change here"),
      ignoreFocusOut: true,
    });
    if (instruction === undefined || instruction.trim() === "") return;
    const attachment = await lines;
    const text = inlinePrompt(
      instruction,
      selection.isEmpty ? vscode.l10n.t("line {0}", cursor) : vscode.l10n.t("the lines {0}", attachment.label),
    );
    const session = this.#sessions.startInBackground({ text, attachments: [attachment] });
    await this.#follow({ uri: document.uri, line: selection.start.line, session, progress: STARTING });
  }

  /** Stops the edit at `sessionId`, else all. */
  stop(sessionId?: unknown): void {
    for (const { session } of this.#running) {
      if (sessionId === undefined || session.sessionId === sessionId) session.dispatch({ type: "cancel" });
    }
  }

  async #follow(edit: RunningEdit): Promise<void> {
    this.#running.add(edit);
    this.#refresh();
    const ended = new Promise<void>((resolve) => {
      const stopFollowing = edit.session.log.observe((event) => {
        const { step } = edit.progress;
        edit.progress = inlineProgress(edit.progress, event);
        if (edit.progress.step !== step) this.#changed.fire();
        if (edit.progress.end === undefined) return;
        stopFollowing();
        resolve();
      });
    });
    // The lens is not there for users who have switched lenses off.
    const location = vscode.ProgressLocation.Window;
    await vscode.window.withProgress({ location, title: vscode.l10n.t("Hermes edits at the cursor") }, () => ended);
    this.#running.delete(edit);
    this.#refresh();
    await this.#report(edit);
  }

  #refresh(): void {
    void vscode.commands.executeCommand("setContext", IS_EDITING, this.#running.size > 0);
    this.#changed.fire();
  }

  #lensesOf(uri: vscode.Uri): vscode.CodeLens[] {
    return [...this.#running].flatMap((edit) => {
      if (edit.uri.toString() !== uri.toString()) return [];
      const place = new vscode.Range(edit.line, 0, edit.line, 0);
      const { sessionId } = edit.session;
      const title = `$(loading~spin) Hermes: ${edit.progress.step}`;
      return [
        new vscode.CodeLens(place, { title, command: "hermes.showSession", arguments: [sessionId] }),
        new vscode.CodeLens(place, {
          title: vscode.l10n.t("Stop"),
          command: "hermes.stopInlineEdit",
          arguments: [sessionId],
        }),
      ];
    });
  }

  /** Keeps the marks at their lines when lines before them come or go. */
  #move({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    for (const edit of this.#running) {
      if (edit.uri.toString() !== document.uri.toString()) continue;
      for (const { range, text } of contentChanges) {
        if (range.end.line < edit.line) edit.line += text.split("\n").length - 1 - (range.end.line - range.start.line);
      }
    }
  }

  /** Reports what the file does not show: an answer without an edit, or a failure. */
  async #report({ session, progress }: RunningEdit): Promise<void> {
    const { answer, hasEdited, end } = progress;
    const failure = end?.error;
    if (end?.stopReason === "cancelled" || (failure === undefined && hasEdited)) {
      this.#sessions.acknowledge(session);
      return;
    }
    const text = answer.trim() === "" ? vscode.l10n.t("there was nothing to change.") : answer.trim();
    const shown = truncate(text, ANSWER_CHARS);
    const answered =
      failure === undefined
        ? await showInformation(`Hermes: ${shown}`, SHOW)
        : await showError(vscode.l10n.t("Hermes could not edit: {0}", failure), SHOW);
    if (answered === SHOW && session.sessionId !== undefined) this.#sessions.reveal(session.sessionId);
  }
}

/** State of an edit at the cursor, for people. */
export type InlineProgress = {
  /** Title of the current step. */
  readonly step: string;
  readonly answer: string;
  readonly hasEdited: boolean;
  /** Undefined while the turn runs. */
  readonly end?: Extract<PanelEvent, { kind: "turn-end" }>;
};

export const STARTING: InlineProgress = { step: vscode.l10n.t("starting"), answer: "", hasEdited: false };

/** Progress after an event of the session. */
export function inlineProgress(before: InlineProgress, event: PanelEvent): InlineProgress {
  if (event.kind === "turn-end") return { ...before, end: event };
  if (event.kind !== "update") return before;
  const { update } = event;
  switch (update.sessionUpdate) {
    case "agent_thought_chunk":
      return { ...before, step: vscode.l10n.t("thinking") };
    case "agent_message_chunk": {
      const text = update.content.type === "text" ? update.content.text : "";
      return { ...before, step: vscode.l10n.t("answering"), answer: before.answer + text };
    }
    case "tool_call":
    case "tool_call_update": {
      // The answer is the text after the last call.
      const hasEdited = before.hasEdited || (update.content ?? []).some(isDiff);
      return { ...before, step: update.title ?? before.step, answer: "", hasEdited };
    }
    default:
      return before;
  }
}

function isDiff({ type }: ToolCallContent): boolean {
  return type === "diff";
}
