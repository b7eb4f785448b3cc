/** Edits at the cursor: a thread at the lines takes the instruction, and shows the answer of a background session. */
import * as vscode from "vscode";
import * as z from "zod";
import { truncate } from "../../agent-core/platform/one-line.ts";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import type { ChatSession } from "../chat/chat-session.ts";
import type { PromptContent } from "../chat/prompt-queue.ts";
import type { Sessions } from "../chat/sessions.ts";
import type { Review } from "../review/review.ts";
import { inlinePrompt } from "./action-prompts.ts";
import { editorInUse, linesAt } from "./code-at-cursor.ts";
import { comment } from "./review-findings.ts";

/** Part of an answer that a thread shows. The session has the rest. Characters. */
const ANSWER_CHARS = 1_000;

const TITLE = vscode.l10n.t("Edit with Hermes");

type InlineEdit = {
  readonly thread: vscode.CommentThread;
  /** Undefined until a message or a choice of its model needs it. */
  session?: ChatSession;
  /** First message of the session, about the lines of the thread. */
  readonly prompt: (instruction: string) => Promise<PromptContent>;
  isRunning: boolean;
  hasEdited: boolean;
};

/** Argument of the command of a thread's field. */
const Reply = z.object({ thread: z.unknown(), text: z.string() });

export class InlineEdits implements vscode.Disposable {
  readonly #edits = new Map<unknown, InlineEdit>();
  /** Created with the first edit. */
  #controller: vscode.CommentController | undefined;
  readonly #sessions: Sessions;
  readonly #subscription: vscode.Disposable;
  #focus: vscode.Disposable | undefined;

  constructor(sessions: Sessions, review: Pick<Review, "onDidChange" | "documentsOf">) {
    this.#sessions = sessions;
    // A thread has served when nothing of its file is left to review.
    this.#subscription = review.onDidChange(({ fsPath }) => {
      if (review.documentsOf(fsPath).length > 0) return;
      this.#close(({ thread, hasEdited }) => hasEdited && thread.uri.fsPath === fsPath);
    });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#focus?.dispose();
    this.#controller?.dispose();
  }

  /** Opens a thread at the selection, with the focus in its field. */
  async start(): Promise<void> {
    const editor = await editorInUse();
    if (editor === undefined) return;
    const { document, selection } = editor;
    const lines = linesAt(editor);
    const cursor = `${vscode.workspace.asRelativePath(document.uri)}:${selection.active.line + 1}`;
    const prompt = async (instruction: string): Promise<PromptContent> => {
      const attachment = await lines;
      const place = selection.isEmpty ? cursor : attachment.label;
      return { text: inlinePrompt(instruction, place), attachments: [attachment] };
    };
    this.#close(({ thread }) => thread.comments.length === 0 || thread.uri.fsPath === document.uri.fsPath);
    this.#focus?.dispose();
    this.#focus = focusNextField();
    this.#controller ??= createController();
    const thread = this.#controller.createCommentThread(document.uri, selection, []);
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    // With the default of our package.json, only unresolved threads open the view of comments.
    thread.state = vscode.CommentThreadState.Resolved;
    const edit: InlineEdit = { thread, prompt, isRunning: false, hasEdited: false };
    this.#edits.set(thread, edit);
    this.#show(edit, TITLE);
  }

  /** Sends the text of a thread's field. */
  async send(reply: unknown): Promise<void> {
    const { thread: key, text } = Reply.parse(reply);
    const edit = this.#edits.get(key);
    if (edit === undefined || edit.isRunning || text.trim() === "") return;
    const { thread } = edit;
    edit.isRunning = true;
    try {
      const content = thread.comments.length === 0 ? await edit.prompt(text) : { text };
      thread.comments = [...thread.comments, comment(text, vscode.l10n.t("You"))];
      this.#follow(edit, this.#sessions.startInBackground(content, this.sessionOf(key)));
    } catch (error) {
      edit.isRunning = false;
      throw error;
    }
  }

  /** Session of a thread; undefined for a thread that is closed. */
  sessionOf(thread: unknown): ChatSession | undefined {
    const edit = this.#edits.get(thread);
    if (edit !== undefined) edit.session ??= this.#sessions.withoutPanel();
    return edit?.session;
  }

  /** Closes threads that run nothing. Their sessions stay in the list. */
  #close(isMeant: (edit: InlineEdit) => boolean): void {
    for (const edit of this.#edits.values()) {
      if (edit.isRunning || !isMeant(edit)) continue;
      edit.thread.dispose();
      this.#edits.delete(edit.thread);
      if (edit.session !== undefined) this.#sessions.leave(edit.session);
    }
  }

  #follow(edit: InlineEdit, session: ChatSession): void {
    let progress = STARTING;
    this.#show(edit, progress.step);
    const stopFollowing = session.log.observe((event) => {
      const { step } = progress;
      progress = inlineProgress(progress, event);
      if (progress.step !== step) this.#show(edit, progress.step);
      if (progress.end === undefined) return;
      stopFollowing();
      edit.isRunning = false;
      edit.hasEdited ||= progress.hasEdited;
      edit.thread.comments = [...edit.thread.comments, comment(resultOf(progress))];
      this.#show(edit, TITLE);
      queueMicrotask(() => this.#sessions.acknowledge(session)); // the session itself still handles the event
    });
  }

  #show({ thread, isRunning }: InlineEdit, label: string): void {
    thread.label = label;
    thread.canReply = !isRunning;
    thread.contextValue = `${isRunning ? "running" : "idle"} ${thread.comments.length}`;
  }
}

function createController(): vscode.CommentController {
  const controller = vscode.comments.createCommentController("hermes.edit", TITLE);
  controller.options = {
    prompt: vscode.l10n.t("Follow up…"),
    placeHolder: vscode.l10n.t("What to change here, or a question. Enter sends it."),
  };
  return controller;
}

/** Focuses the field of the next thread at the cursor. No API does so; the text of a field is a document. */
function focusNextField(): vscode.Disposable {
  const opened = vscode.workspace.onDidOpenTextDocument(async ({ uri }) => {
    if (uri.scheme !== "comment") return;
    opened.dispose();
    await vscode.commands.executeCommand("workbench.action.focusCommentOnCurrentLine");
    await vscode.commands.executeCommand("widgetNavigation.focusNext");
  });
  return opened;
}

/** Result of a turn, for its thread. */
function resultOf({ answer, hasEdited, end }: InlineProgress): string {
  if (end?.stopReason === "cancelled") return vscode.l10n.t("Stopped.");
  if (end?.error !== undefined) return vscode.l10n.t("Hermes could not edit: {0}", end.error);
  const silent = hasEdited ? vscode.l10n.t("Done.") : vscode.l10n.t("There was nothing to change.");
  return truncate(answer.trim(), ANSWER_CHARS) || silent;
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
      const hasEdited = before.hasEdited || (update.content ?? []).some(({ type }) => type === "diff");
      return { ...before, step: update.title ?? before.step, answer: "", hasEdited };
    }
    default:
      return before;
  }
}
