/**
 * Requests of the agent to the user. Each has a card in the panel. While the panel does not show the card, a
 * notification leads to it; no request ever takes the focus by itself.
 */
import { randomUUID } from "node:crypto";
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  PermissionOption,
  RequestPermissionOutcome,
  RequestPermissionRequest,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";
import * as z from "zod";
import { abortable } from "../../agent-core/platform/deadline.ts";
import { truncate } from "../../agent-core/platform/one-line.ts";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { HermesPermissionMeta } from "../../agent-core/protocol/conversation.ts";
import { readMeta } from "../../agent-core/protocol/method.ts";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { checkedRecord } from "../../agent-core/protocol/update-meta.ts";

/** Answer from the panel: an option with an optional reason for a refusal, or the text of an answer (null: no answer). */
export type RequestAnswer =
  | { readonly kind: "option"; readonly optionId: string; readonly reason?: string }
  | { readonly kind: "text"; readonly text: string | null };

/** A button of a notification. Without an option it opens the card. */
export type NoticeButton = { readonly title: string; readonly optionId?: string };

export type RequestNotice = { readonly text: string; readonly buttons: readonly NoticeButton[] };

export type RequestPorts = {
  readonly show: (sessionId: string, event: PanelEvent) => void;
  /** Takes the session of each open request. */
  readonly changed: (sessionIds: readonly string[]) => void;
  /** True while the user sees the cards of this session, or a line that leads to them. */
  readonly isInSight: (sessionId: string) => boolean;
  /** Opens the panel with this session. */
  readonly reveal: (sessionId: string) => void;
  /** Shows a notification without focus, until `closed`. Undefined when the user closed it. */
  readonly notify: (notice: RequestNotice, closed: AbortSignal) => Promise<NoticeButton | undefined>;
};

type OpenRequest = {
  readonly sessionId: string;
  readonly notice: RequestNotice;
  readonly answer: (answer: RequestAnswer) => void;
  /** Closes the notification; undefined while there is none. */
  shownNotice: AbortController | undefined;
};

/** The agent's answers to its permission requests. It names them in English, for all editors. */
const ANSWERS: ReadonlyMap<string, string> = new Map([
  ["Allow Once", vscode.l10n.t("Allow Once")],
  ["Allow for This Session", vscode.l10n.t("Allow for This Session")],
  ["Always Allow", vscode.l10n.t("Always Allow")],
  ["Reject", vscode.l10n.t("Reject")],
]);

export class Requests {
  readonly #open = new Map<string, OpenRequest>();
  readonly #ports: RequestPorts;

  constructor(ports: RequestPorts) {
    this.#ports = ports;
  }

  /** Handles an answer from the panel. An answer to a closed request is ignored. */
  answer(requestId: string, answer: RequestAnswer): void {
    this.#open.get(requestId)?.answer(answer);
  }

  /** Offers the answers of a session's request in a list. One that needs its card opens the panel. */
  async choose(sessionId: string): Promise<void> {
    const request = [...this.#open.values()].find((open) => open.sessionId === sessionId);
    if (request === undefined) return;
    const { text, buttons } = request.notice;
    const items = buttons.map((button) => ({ label: button.title, button }));
    const picked = items.length > 1 ? await vscode.window.showQuickPick(items, { title: text }) : items[0];
    if (picked !== undefined) this.#press(request, picked.button);
  }

  /** The panel was shown or hidden, or shows another session. */
  sightChanged(): void {
    for (const request of this.#open.values()) this.#updateNotice(request);
  }

  async permission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionOutcome> {
    const requestId = randomUUID();
    const { sessionId } = request;
    const toolCall = checkedRecord(request.toolCall);
    const options = request.options.map((option) => ({ ...option, name: ANSWERS.get(option.name) ?? option.name }));
    const ours = readMeta(HermesPermissionMeta, request._meta);
    this.#ports.show(sessionId, { kind: "permission", requestId, toolCall, options, reasons: [], ...ours });
    const notice = permissionNotice(ours, options);
    const answer = await this.#firstAnswer(requestId, { sessionId, notice }, signal);
    const option = answer?.kind === "option" ? options.find(({ optionId }) => optionId === answer.optionId) : undefined;
    this.#ports.show(sessionId, {
      kind: "permission-end",
      requestId,
      label: option?.name ?? vscode.l10n.t("Withdrawn"),
    });
    if (option === undefined) return { outcome: "cancelled" };
    const reason = answer?.kind === "option" ? answer.reason : undefined;
    return { outcome: "selected", optionId: option.optionId, ...(reason && { _meta: { hermes: { reason } } }) };
  }

  async question(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse> {
    const requestId = randomUUID();
    const { message } = request;
    const sessionId = "sessionId" in request && typeof request.sessionId === "string" ? request.sessionId : "";
    const choices = choicesOf(request);
    this.#ports.show(sessionId, { kind: "question", requestId, message, choices });
    const answer = await this.#firstAnswer(requestId, { sessionId, notice: QUESTION_NOTICE }, signal);
    const text = answer?.kind === "text" ? answer.text : null;
    this.#ports.show(sessionId, { kind: "question-end", requestId, label: text ?? vscode.l10n.t("No answer") });
    if (text === null || text === "") return { action: "cancel" };
    const key = choices.includes(text) ? "choice" : "other";
    return { action: "accept", content: { [key]: text } };
  }

  /** Undefined when the request was withdrawn. */
  async #firstAnswer(
    requestId: string,
    asked: Pick<OpenRequest, "sessionId" | "notice">,
    signal: AbortSignal,
  ): Promise<RequestAnswer | undefined> {
    const { promise, resolve: answer } = Promise.withResolvers<RequestAnswer>();
    const request: OpenRequest = { ...asked, answer, shownNotice: undefined };
    this.#open.set(requestId, request);
    this.#changed();
    this.#updateNotice(request);
    try {
      return await abortable(promise, signal).catch(() => undefined);
    } finally {
      this.#open.delete(requestId);
      this.#changed();
      request.shownNotice?.abort();
    }
  }

  #changed(): void {
    this.#ports.changed([...this.#open.values()].map(({ sessionId }) => sessionId));
  }

  /** A notification over a visible card would cover its buttons. */
  #updateNotice(request: OpenRequest): void {
    if (this.#ports.isInSight(request.sessionId)) {
      request.shownNotice?.abort();
      request.shownNotice = undefined;
    } else if (request.shownNotice === undefined) void this.#notify(request);
  }

  /** A notification that fails or that the user closes leaves the card open. */
  async #notify(request: OpenRequest): Promise<void> {
    const closed = new AbortController();
    request.shownNotice = closed;
    const button = await this.#ports.notify(request.notice, closed.signal).catch(() => undefined);
    if (button !== undefined && !closed.signal.aborted) this.#press(request, button);
  }

  #press(request: OpenRequest, { optionId }: NoticeButton): void {
    if (optionId === undefined) this.#ports.reveal(request.sessionId);
    else request.answer({ kind: "option", optionId });
  }
}

/** Longest command in a notification. VS Code shows about three lines of 50 characters. */
const NOTICE_CHARS = 120;
/** Longest reasons beside it. */
const REASON_CHARS = 160;
/** Longest goal of a task; the card has all of it. */
const GOAL_CHARS = 60;

const REVIEW: NoticeButton = { title: vscode.l10n.t("Review") };
const QUESTION_NOTICE: RequestNotice = {
  text: vscode.l10n.t("Hermes has a question."),
  buttons: [{ title: vscode.l10n.t("Show Question") }],
};

/**
 * VS Code reads a notification as Markdown links and joins its lines. A command or a reason that this could change is not
 * shown, and the only button then opens the card.
 */
export function permissionNotice(
  { command, reasons = [], task }: Partial<HermesPermissionMeta> = {},
  options: readonly PermissionOption[],
): RequestNotice {
  const asker = task === undefined ? "Hermes" : askerOf(task);
  const why = plainLine(reasons.join("; "), REASON_CHARS);
  const because = why === undefined || why === "" ? "" : ` (${why})`;
  if (command === undefined)
    return { text: vscode.l10n.t("{0} asks for your permission{1}.", asker, because), buttons: [REVIEW] };
  const shown = plainLine(command, NOTICE_CHARS);
  if (shown === undefined) {
    return {
      text: vscode.l10n.t("{0} asks for your permission to run a command{1}.", asker, because),
      buttons: [REVIEW],
    };
  }
  if (why === undefined) return { text: vscode.l10n.t("{0} asks to run: {1}", asker, shown), buttons: [REVIEW] };
  const once = options.filter(({ kind }) => kind === "allow_once" || kind === "reject_once");
  const answers = once.map(({ name: title, optionId }): NoticeButton => ({ title, optionId }));
  return { text: vscode.l10n.t("{0} asks to run: {1}{2}", asker, shown, because), buttons: [REVIEW, ...answers] };
}

/** The task that asks, by the beginning of its goal. */
function askerOf(goal: string): string {
  const shown = plainLine(truncate(goal, GOAL_CHARS), GOAL_CHARS + 1);
  return shown === undefined || shown === ""
    ? vscode.l10n.t("A Hermes task")
    : vscode.l10n.t('Hermes, in the task "{0}",', shown);
}

/** Undefined for a text that a notification would cut, join or read as a link. */
function plainLine(text: string, maxChars: number): string | undefined {
  const shown = visibleText(text);
  const isPlain = /^(\S+( \S+)*)?$/u.test(shown) && shown.length <= maxChars && !shown.includes("](");
  return isPlain ? shown : undefined;
}

const formSchema = z.object({
  requestedSchema: z.object({
    properties: z.object({ choice: z.object({ enum: z.array(z.string()) }).optional() }).optional(),
  }),
});

function choicesOf(request: CreateElicitationRequest): readonly string[] {
  return formSchema.safeParse(request).data?.requestedSchema.properties?.choice?.enum ?? [];
}
