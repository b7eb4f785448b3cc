/** Whether a prepared call may run: the policy decides, the user answers, answers that last are kept. */
import type { Effect } from "../approval/policy.ts";
import type { ApprovalAnswer, ApprovalRequest } from "./callbacks.ts";

/** What the policy says of an effect before anybody was asked. */
export type PolicyDecision =
  | { readonly kind: "allow"; readonly sandboxed?: boolean }
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

export type Authorization = { readonly ok: true } | { readonly ok: false; readonly text: string };

/** Asks the user about a call on which the policy said `ask`, and keeps the answer as long as it shall last. */
export async function askUser(
  request: Omit<ApprovalRequest, "reasons" | "grant">,
  decision: Extract<PolicyDecision, { kind: "ask" }>,
  ask: Asker | undefined,
  signal: AbortSignal,
): Promise<Authorization> {
  const { reasons, grant } = decision;
  if (ask === undefined) return refusal(request.name, "it needs the user's approval, and nobody can be asked here");
  const answer = await ask({ ...request, reasons, ...(grant && { grant: grant.description }) }, signal);
  signal.throwIfAborted();
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

function refusal(name: string, why: string): Authorization {
  return {
    ok: false,
    text: `${name} was not run: ${why}. Do not try the same thing another way; go on without it or ask.`,
  };
}
