/** The agent's clarify callback: an elicitation form where the client has that, else a choice of options. */
import { randomUUID } from "node:crypto";
import { type AgentContext, methods, type RequestPermissionRequest } from "@zed-industries/agent-client-protocol";
import type { Answer, Question } from "../tools/tool.ts";

const CHOICE = "choice";
const OTHER = "other";

export type QuestionPlace = {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** The client shows forms (`clientCapabilities.elicitation.form`). */
  readonly hasForms: boolean;
};

export async function askQuestion(place: QuestionPlace, question: Question, signal: AbortSignal): Promise<Answer> {
  try {
    return await (place.hasForms ? askByForm(place, question, signal) : askByOptions(place, question, signal));
  } catch {
    if (signal.aborted) throw signal.reason;
    return { kind: "unavailable" };
  }
}

async function askByForm(
  { client, sessionId }: QuestionPlace,
  question: Question,
  signal: AbortSignal,
): Promise<Answer> {
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
    { cancellationSignal: signal, stopWaitingOnCancel: true },
  );
  if (response.action !== "accept") return { kind: "cancelled" };
  const content: unknown = response.content;
  return answered(textOf(content, OTHER) || textOf(content, CHOICE));
}

/** Clients without forms can still choose; the free answer is then to skip and write it as the next message. */
async function askByOptions(place: QuestionPlace, question: Question, signal: AbortSignal): Promise<Answer> {
  const { client, sessionId } = place;
  if (question.choices.length === 0) return { kind: "unavailable" };
  const request: RequestPermissionRequest = {
    sessionId,
    toolCall: { toolCallId: `question-${randomUUID()}`, title: question.question, kind: "other" },
    options: [
      ...question.choices.map((name, index) => ({ optionId: String(index), name, kind: "allow_once" as const })),
      { optionId: "skip", name: "Skip", kind: "reject_once" },
    ],
  };
  const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true };
  const response = await client.request(methods.client.session.requestPermission, request, waiting);
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
