/** Questions of the agent to the user through the client: approvals, questions of the model, and pages in a browser. */
import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@zed-industries/agent-client-protocol";
import type { ApprovalAnswer, ApprovalRequest } from "../agent/callbacks.ts";
import type { Answer, Question } from "../host/host.ts";
import type { PasswordAnswer, PasswordQuestion } from "../host/terminals/terminals.ts";
import { newId } from "../platform/new-id.ts";
import { bothEnds } from "../platform/one-line.ts";
import { fenced, visibleText } from "../platform/visible-text.ts";
import { type HermesPermissionMeta, HermesPermissionOutcome } from "../protocol/conversation.ts";
import { openUrlMethod } from "../protocol/extensions.ts";
import { call, endingWith, readMeta } from "../protocol/method.ts";
import { passwordMethod } from "../protocol/processes.ts";
import type { ConnectedClient } from "./connected-client.ts";
import { diffContent } from "./conversation-updates.ts";

const ONCE: PermissionOption = { optionId: "once", name: "Allow Once", kind: "allow_once" };
const SESSION: PermissionOption = { optionId: "session", name: "Allow for This Session", kind: "allow_always" };
/** Only for clients that show the names. Other clients bind one key to each kind, and their users mean "for now". */
const ALWAYS: PermissionOption = { optionId: "always", name: "Always Allow", kind: "allow_always" };
const REJECT: PermissionOption = { optionId: "reject", name: "Reject", kind: "reject_once" };

/** Length of a command that a permission request shows; `tool_call` carries all of it. Characters. */
const SHOWN_COMMAND_CHARS = 4_000;

export type UserClient = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** The client shows forms (`clientCapabilities.elicitation.form`). */
  readonly hasForms: boolean;
  /** The client shows the names of the options, and `HermesPermissionMeta`. */
  readonly showsGrants: boolean;
};

/** Waits as long as the client is connected; a client without the method counts as unavailable. */
export async function askPermission(
  { client, sessionId, showsGrants }: UserClient,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const { callId, title, kind, locations, diffs, command, reasons, grant, task } = request;
  const lasting = showsGrants ? [SESSION, ALWAYS] : [SESSION];
  const hermes: HermesPermissionMeta = {
    reasons,
    ...(command !== undefined && showsGrants && { command }),
    ...(grant !== undefined && { grant }),
    ...(task !== undefined && { task }),
  };
  const question: RequestPermissionRequest = {
    sessionId,
    toolCall: {
      toolCallId: callId,
      title: visibleText(title),
      kind,
      status: "pending",
      locations: locations.map((location) => ({ ...location })),
      // Some clients show only the first content.
      content: [...diffContent(diffs), { type: "content", content: { type: "text", text: explanation(request) } }],
    },
    options: grant === undefined ? [ONCE, REJECT] : [ONCE, ...lasting, REJECT],
    _meta: { hermes },
  };
  try {
    const response = await client.request(methods.client.session.requestPermission, question, endingWith(signal));
    return answerOf(response, question.options);
  } catch {
    if (signal.aborted) throw signal.reason;
    return { kind: "unavailable" }; // the policy denies the call
  }
}

/** The command and the reasons as text, for clients that show only the content. */
function explanation({ command, reasons, grant, task }: ApprovalRequest): string {
  const lines = command === undefined ? [] : [fenced(visibleText(shownCommand(command)), "sh")];
  if (task !== undefined) lines.push(`Asked by the task: ${visibleText(task)}`);
  lines.push(...reasons.map((reason) => `- ${visibleText(reason)}`));
  if (grant !== undefined)
    lines.push(`
A lasting answer covers: ${visibleText(grant)}`);
  return lines.join("\n");
}

/** Both ends of a long command. */
function shownCommand(command: string): string {
  const hidden = command.length - SHOWN_COMMAND_CHARS;
  const gap = `\n[… ${hidden} characters; the tool call's input has all of them …]\n`;
  return bothEnds(command, SHOWN_COMMAND_CHARS, gap);
}

function answerOf({ outcome }: RequestPermissionResponse, options: readonly PermissionOption[]): ApprovalAnswer {
  if (outcome.outcome === "cancelled") return { kind: "unavailable" };
  const chosen = options.find(({ optionId }) => optionId === outcome.optionId);
  switch (chosen?.optionId) {
    case ONCE.optionId:
      return { kind: "once" };
    case SESSION.optionId:
      return { kind: "session" };
    case ALWAYS.optionId:
      return { kind: "always" };
    default: {
      const reason = readMeta(HermesPermissionOutcome, outcome._meta)?.reason;
      return { kind: "rejected", ...(reason && { reason }) };
    }
  }
}

/** Clients without the method could show what is typed, or store it: they are not asked. */
export async function askPassword(
  { client, sessionId }: Pick<UserClient, "client" | "sessionId">,
  { prompt, command, isRetry }: PasswordQuestion,
  signal: AbortSignal,
): Promise<PasswordAnswer> {
  try {
    const question = { sessionId, prompt: visibleText(prompt), command: visibleText(command), isRetry };
    const { password } = await call(client, passwordMethod, question, endingWith(signal));
    return password === null ? { kind: "refused" } : { kind: "given", password };
  } catch {
    return { kind: signal.aborted ? "refused" : "unavailable" };
  }
}

const CHOICE = "choice";
const OTHER = "other";

/** Asks by an elicitation form, or by the options of a permission request for a client without forms. */
export async function askQuestion(asked: UserClient, question: Question, signal: AbortSignal): Promise<Answer> {
  try {
    return await (asked.hasForms ? askByForm(asked, question, signal) : askByOptions(asked, question, signal));
  } catch {
    if (signal.aborted) throw signal.reason;
    return { kind: "unavailable" };
  }
}

async function askByForm({ client, sessionId }: UserClient, question: Question, signal: AbortSignal): Promise<Answer> {
  const { choices } = question;
  const answer = { type: "string", title: choices.length > 0 ? "Another answer" : "Answer" } as const;
  const choice = { type: "string", title: "Answer", enum: [...choices] } as const;
  const response = await client.request(
    methods.client.elicitation.create,
    {
      mode: "form",
      sessionId,
      message: question.question,
      requestedSchema: {
        type: "object",
        properties: choices.length > 0 ? { [CHOICE]: choice, [OTHER]: answer } : { [OTHER]: answer },
      },
    },
    endingWith(signal),
  );
  if (response.action !== "accept") return { kind: "cancelled" };
  const content: unknown = response.content;
  return answered(textOf(content, OTHER) || textOf(content, CHOICE));
}

/** For clients without forms. To answer freely, the user skips and writes the next message. */
async function askByOptions(asked: UserClient, question: Question, signal: AbortSignal): Promise<Answer> {
  const { client, sessionId } = asked;
  if (question.choices.length === 0) return { kind: "unavailable" };
  const request: RequestPermissionRequest = {
    sessionId,
    toolCall: { toolCallId: `question-${newId()}`, title: question.question, kind: "other", status: "pending" },
    options: [
      ...question.choices.map((name, index) => ({ optionId: String(index), name, kind: "allow_once" as const })),
      { optionId: "skip", name: "Skip", kind: "reject_once" },
    ],
  };
  const response = await client.request(methods.client.session.requestPermission, request, endingWith(signal));
  if (response.outcome.outcome === "cancelled") return { kind: "cancelled" };
  return answered(question.choices[Number(response.outcome.optionId)] ?? "");
}

function answered(text: string): Answer {
  return text === "" ? { kind: "cancelled" } : { kind: "answered", text };
}

function textOf(content: unknown, key: string): string {
  if (typeof content !== "object" || content === null) return "";
  const value = Object.entries(content).find(([name]) => name === key)?.[1];
  return typeof value === "string" ? value.trim() : "";
}

/** Page for the user's browser. `purpose`: one line for the user. `done` settles when the user needs the page no more. */
export type Page = { readonly url: URL; readonly purpose: string; readonly done: Promise<unknown> };

/** `unavailable`: the client opens no pages, so the user needs the link. */
export type PageOutcome = "opened" | "refused" | "unavailable";

/** Opens a page in the user's browser: by our own method, else by an elicitation of ACP. Never rejects. */
export async function openPage(
  {
    client,
    sessionId,
    identity: { ours, capabilities },
  }: Pick<UserClient, "client" | "sessionId"> & { readonly identity: Pick<ConnectedClient, "ours" | "capabilities"> },
  { url: { href: url }, purpose: message, done }: Page,
): Promise<PageOutcome> {
  try {
    if (ours.openUrl === true) {
      return (await call(client, openUrlMethod, { url })).opened ? "opened" : "refused";
    }
    if (capabilities.elicitation?.url == null) return "unavailable";
    const elicitationId = newId();
    const response = await client.request(methods.client.elicitation.create, {
      mode: "url",
      sessionId,
      elicitationId,
      url,
      message,
    });
    const complete = (): void =>
      void client.notify(methods.client.elicitation.complete, { elicitationId }).catch(() => undefined);
    if (response.action === "accept") done.then(complete, complete);
    return response.action === "accept" ? "opened" : "refused";
  } catch {
    return "unavailable";
  }
}
