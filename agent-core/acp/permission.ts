/** The agent's approval callback over `session/request_permission`. */
import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from "@zed-industries/agent-client-protocol";
import type { ApprovalAnswer, ApprovalRequest } from "../agent/callbacks.ts";
import { type HermesPermissionMeta, HermesPermissionOutcome } from "../protocol/conversation.ts";
import { readMeta } from "../protocol/meta.ts";
import { diffContent } from "./tool-content.ts";

const ONCE: PermissionOption = { optionId: "once", name: "Allow once", kind: "allow_once" };
const SESSION: PermissionOption = { optionId: "session", name: "Allow for this session", kind: "allow_always" };
const ALWAYS: PermissionOption = { optionId: "always", name: "Always allow", kind: "allow_always" };
const REJECT: PermissionOption = { optionId: "reject", name: "Reject", kind: "reject_once" };

/** Asks the client; a client that cannot answer counts as nobody there. Waits as long as the client is connected. */
export async function askPermission(
  client: AgentContext,
  sessionId: string,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const { callId, title, kind, locations, input, diffs, command, reasons, grant } = request;
  const hermes: HermesPermissionMeta = {
    reasons,
    ...(command !== undefined && { command }),
    ...(grant !== undefined && { grant }),
  };
  const question: RequestPermissionRequest = {
    sessionId,
    toolCall: {
      toolCallId: callId,
      title,
      kind,
      status: "pending",
      locations: locations.map((location) => ({ ...location })),
      rawInput: input,
      content: [{ type: "content", content: { type: "text", text: explanation(request) } }, ...diffContent(diffs)],
    },
    options: grant === undefined ? [ONCE, REJECT] : [ONCE, SESSION, ALWAYS, REJECT],
    _meta: { hermes },
  };
  try {
    const waiting = { cancellationSignal: signal, stopWaitingOnCancel: true };
    const response = await client.request(methods.client.session.requestPermission, question, waiting);
    return answerOf(response);
  } catch {
    if (signal.aborted) throw signal.reason;
    return { kind: "unavailable" }; // the client cannot ask: denied, as the policy demands
  }
}

/** The whole command and why it asks, for clients that show nothing but the content. */
function explanation({ command, reasons, grant }: ApprovalRequest): string {
  const lines = command === undefined ? [] : ["```sh", command, "```"];
  lines.push(...reasons.map((reason) => `- ${reason}`));
  if (grant !== undefined) lines.push(`\nA lasting answer covers: ${grant}`);
  return lines.join("\n");
}

function answerOf({ outcome }: RequestPermissionResponse): ApprovalAnswer {
  if (outcome.outcome === "cancelled") return { kind: "unavailable" };
  switch (outcome.optionId) {
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
