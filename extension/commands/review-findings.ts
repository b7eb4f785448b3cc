/**
 * Findings of a code review at their lines: an answer whose headings name a place and a severity becomes comment threads.
 * The change that a finding suggests comes up for review by hunk, as any edit of the agent.
 */
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { fenced } from "../../agent-core/platform/visible-text.ts";
import type { ChatSession } from "../chat/chat-session.ts";
import type { SessionEvent } from "../chat/session-state.ts";
import type { EditReview } from "../client/client-services.ts";
import { findLinkedFile } from "../documents/file-links.ts";
import { showInformation, showWarning } from "../notifications.ts";

const SEVERITIES = ["error", "warning", "note"] as const;

export type Finding = {
  /** Path with its lines: `src/a.ts:12-14`. */
  readonly place: string;
  readonly severity: (typeof SEVERITIES)[number];
  /** Markdown. */
  readonly text: string;
  /** New text of the lines; undefined: none is suggested. */
  readonly suggestion: string | undefined;
};

/** Form of the answer, for the prompt of a review. The model reads it; it is not translated. */
export const FINDINGS_FORM = [
  "Begin each finding with a heading of exactly this form: `### path/to/file.ts:12-14 (error)`.",
  "The path is relative to the folder, the lines are those of the file now, and the severity is error, warning or note.",
  "Below it, explain the finding in a few sentences.",
  "Where a small change cures it, add a block with the language `suggestion` that holds the new text of exactly these lines.",
].join(" ");

const HEADING = /^#{2,4} `?(\S+?:\d+(?:-\d+)?)`? \((error|warning|note)\)[^\S\n]*$/gm;
const SUGGESTION = /^(`{3,})suggestion[^\n]*\n([\s\S]*?)^\1[^\S\n]*$/m;

/** Findings in an answer; none in an answer of another form. */
export function findingsIn(answer: string): readonly Finding[] {
  const headings = [...answer.matchAll(HEADING)];
  return headings.map((heading, index) => {
    const [whole, place = "", severity] = heading;
    const body = answer.slice(heading.index + whole.length, headings[index + 1]?.index).trim();
    const block = SUGGESTION.exec(body);
    return {
      place,
      severity: SEVERITIES.find((name) => name === severity) ?? "note",
      text: block === null ? body : body.replace(block[0], "").trim(),
      suggestion: block?.[2],
    };
  });
}

const TITLES: Readonly<Record<Finding["severity"], string>> = {
  error: vscode.l10n.t("Error"),
  warning: vscode.l10n.t("Warning"),
  note: vscode.l10n.t("Note"),
};

/** `before`: text of its lines at the review. */
type Shown = {
  readonly thread: vscode.CommentThread;
  readonly suggestion: string | undefined;
  readonly before: string;
};

export class ReviewFindings implements vscode.Disposable {
  readonly #review: Pick<EditReview, "write">;
  readonly #answers = new WeakMap<ChatSession, string>();
  readonly #threads = new Map<unknown, Shown>();
  #controller: vscode.CommentController | undefined;

  constructor(review: Pick<EditReview, "write">) {
    this.#review = review;
  }

  /** Follows the answers of all sessions. A replay of earlier turns shows nothing. */
  observe(session: ChatSession, event: SessionEvent): void {
    if (event.type === "prompt") this.#answers.set(session, "");
    if (event.type === "update" && event.update.sessionUpdate === "agent_message_chunk" && session.isRunning) {
      const { content } = event.update;
      if (content.type === "text") this.#answers.set(session, (this.#answers.get(session) ?? "") + content.text);
    }
    if (event.type !== "turn-ended") return;
    const findings = findingsIn(this.#answers.get(session) ?? "");
    this.#answers.delete(session);
    if (findings.length > 0) void this.#show(findings, session.worktree.folder);
  }

  /** Writes the suggestion of a thread into its file, where it waits for Keep or Undo. */
  async apply(key: unknown): Promise<void> {
    const shown = this.#threads.get(key);
    if (shown?.suggestion === undefined) return;
    const { thread, suggestion, before } = shown;
    const document = await vscode.workspace.openTextDocument(thread.uri);
    const text = document.getText();
    const at = placeOf(text, before, document.offsetAt(thread.range?.start ?? new vscode.Position(0, 0)));
    if (at === undefined) {
      await showWarning(vscode.l10n.t("Hermes: these lines have changed since the review."));
      return;
    }
    const eol = document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n";
    const after = text.slice(0, at) + suggestion.replaceAll(/\r?\n/g, eol) + text.slice(at + before.length);
    try {
      const edit = { path: thread.uri.fsPath, expected: text, after };
      await this.#review.write(edit, new AbortController().signal, () => undefined);
      this.dismiss(thread);
    } catch (error) {
      await showWarning(vscode.l10n.t("Hermes: the suggestion cannot be applied. {0}", messageOf(error)));
    }
  }

  /** `key`: the thread, as its menu gives it. */
  dismiss(key: unknown): void {
    this.#threads.get(key)?.thread.dispose();
    this.#threads.delete(key);
  }

  dismissAll(): void {
    for (const thread of this.#threads.keys()) this.dismiss(thread);
  }

  dispose(): void {
    this.#controller?.dispose();
  }

  /** Replaces the findings of the review before. `own`: folder of its session. */
  async #show(findings: readonly Finding[], own: string | undefined): Promise<void> {
    this.dismissAll();
    const shown = await Promise.all(findings.map((finding) => this.#thread(finding, own)));
    const first = shown.find((thread) => thread !== undefined);
    if (first === undefined) return;
    const { length: count } = shown.filter((thread) => thread !== undefined);
    const text =
      count === 1
        ? vscode.l10n.t("1 finding is at its line.")
        : vscode.l10n.t("{0} findings are at their lines.", count);
    const open = vscode.l10n.t("Show the First");
    if ((await showInformation(`Hermes: ${text}`, open)) !== open) return;
    await vscode.window.showTextDocument(first.uri, first.range === undefined ? {} : { selection: first.range });
  }

  /** Undefined for a place that is not in the workspace. */
  async #thread(finding: Finding, own: string | undefined): Promise<vscode.CommentThread | undefined> {
    const { place, severity, text, suggestion } = finding;
    const target = await findLinkedFile(place, own);
    if (target.kind !== "file") return undefined;
    const document = await vscode.workspace.openTextDocument(target.uri).then(undefined, () => undefined);
    if (document === undefined) return undefined;
    const [, from = "1", to = from] = /:(\d+)(?:-(\d+))?$/.exec(place) ?? [];
    const last = Math.max(0, document.lineCount - 1);
    const start = Math.min(Number(from) - 1, last);
    const end = Math.min(Math.max(start, Number(to) - 1), last);
    const lines = new vscode.Range(start, 0, end + 1, 0);
    this.#controller ??= vscode.comments.createCommentController("hermes.review", vscode.l10n.t("Hermes Review"));
    const body = comment(
      suggestion === undefined ? text : `${text}\n\n${fenced(suggestion.trimEnd(), document.languageId)}`,
    );
    const thread = this.#controller.createCommentThread(target.uri, new vscode.Range(start, 0, end, 0), [body]);
    thread.label = TITLES[severity];
    thread.canReply = false;
    thread.contextValue = suggestion === undefined ? "finding" : "suggestion";
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    this.#threads.set(thread, { thread, suggestion, before: document.getText(document.validateRange(lines)) });
    return thread;
  }
}

/** Comment with Markdown of a model, or of the user. Images become links: VS Code would load them from the network. */
export function comment(text: string, name = "Hermes"): vscode.Comment {
  const body = new vscode.MarkdownString(text.replaceAll("![", "["));
  return { body, mode: vscode.CommentMode.Preview, author: { name } };
}

/** Offset of the lines `before`: at `offset`, else their only occurrence. */
function placeOf(text: string, before: string, offset: number): number | undefined {
  if (text.startsWith(before, offset)) return offset;
  const at = text.indexOf(before);
  return at >= 0 && text.indexOf(before, at + 1) < 0 ? at : undefined;
}
