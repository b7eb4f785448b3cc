/** Whether a prepared call may run: the policy decides, the user answers, answers that last are kept. */
import type { Effect } from "../approval/policy.ts";
import type { RecordedAnswer } from "../sessions/outcomes.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { AgentCallbacks, ApprovalAnswer, ApprovalRequest } from "./callbacks.ts";

/** What the policy says of an effect before anybody was asked. */
export type PolicyDecision =
  /** `granted`: a lasting answer of the user covers it. */
  | { readonly kind: "allow"; readonly sandboxed?: boolean; readonly granted?: boolean }
  | { readonly kind: "deny"; readonly text: string }
  | {
      readonly kind: "ask";
      readonly reasons: readonly string[];
      /** What a lasting answer would cover, in plain words, and how to keep it; undefined when it may not last. */
      readonly grant: { readonly description: string; keep(scope: "session" | "always"): void } | undefined;
    };

/** The session's policy: mode, workspace and grants as they are at the moment of asking. */
export type Policy = { decide(effect: Effect): PolicyDecision };

export type Asker = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

type Authorization = { readonly ok: true } | { readonly ok: false; readonly text: string };

/** Asks the user about a call on which the policy said `ask`, and keeps the answer as long as it shall last. */
export async function askUser(
  request: Omit<ApprovalRequest, "reasons" | "grant">,
  decision: Extract<PolicyDecision, { kind: "ask" }>,
  { ask, record }: { readonly ask: Asker | undefined; readonly record: (answer: RecordedAnswer) => void },
  signal: AbortSignal,
): Promise<Authorization> {
  const { reasons, grant } = decision;
  const { callId, name: tool } = request;
  const nobody: ApprovalAnswer = { kind: "unavailable" };
  const answer = (await ask?.({ ...request, reasons, ...(grant && { grant: grant.description }) }, signal)) ?? nobody;
  signal.throwIfAborted();
  record({
    ...{ callId, tool, request: "permission", outcome: answer.kind },
    by: answer.kind === "unavailable" ? "nobody" : "user",
    ...(answer.kind === "rejected" && answer.reason !== undefined && { reason: answer.reason }),
  });
  if (ask === undefined) return refusal(request.name, "it needs the user's approval, and nobody can be asked here");
  switch (answer.kind) {
    case "once":
      return { ok: true };
    case "session":
    case "always":
      grant?.keep(answer.kind);
      return { ok: true };
    case "rejected":
      return refusal(request.name, answer.reason ? `the user said no: ${answer.reason}` : "the user said no");
    case "unavailable":
      return refusal(request.name, "it needs the user's approval, and nobody answered");
  }
}

/** Asks the agent's questions through `clarify`, and records each answer. */
export function recordedQuestions(
  { clarify }: Pick<AgentCallbacks, "clarify">,
  callId: string,
  record: (answer: RecordedAnswer) => void,
): ToolContext["ask"] {
  return async (question, signal) => {
    const answer = (await clarify?.(question, signal)) ?? { kind: "unavailable" };
    const by = answer.kind === "unavailable" ? "nobody" : "user";
    record({ callId, tool: "clarify", request: "question", outcome: answer.kind, by });
    return answer;
  };
}

function refusal(name: string, why: string): Authorization {
  return {
    ok: false,
    text: `${name} was not run: ${why}. Do not try the same thing another way; go on without it or ask.`,
  };
}
