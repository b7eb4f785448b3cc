/** Life of a turn: the user's prompt, the agent's requests, the end. */
import type { StopReason } from "@zed-industries/agent-client-protocol";
import type { PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { plainText } from "../markdown/parser.ts";
import { t } from "../texts.ts";
import {
  announce,
  type PanelState,
  type PermissionRequest,
  type QuestionRequest,
  type TextEntry,
  type TurnEndEntry,
} from "./state.ts";
import { wholeText } from "./streamed-text.ts";
import { changeToolCall, stopToolCalls, upsertToolCall } from "./tool-calls.ts";
import { addEntry, growText, sealOpen } from "./transcript.ts";

/** Beginning of a reply that a screen reader reads aloud; the rest is in the transcript. Characters. */
const SPOKEN_CHARS = 600;

const stopLabels: Record<StopReason, string | undefined> = {
  end_turn: undefined,
  cancelled: t("Stopped"),
  max_tokens: t("Reached the model's output limit"),
  max_turn_requests: t("Reached the iteration limit"),
  refusal: t("The model refused to answer"),
};

type Prompt = Pick<Extract<PanelEvent, { kind: "prompt" }>, "text" | "attachments">;

/** Shows the user's message and starts the turn. `at`: clock, milliseconds. */
export function beginTurn(state: PanelState, prompt: Prompt, at: number): PanelState {
  const { text, attachments = [] } = prompt;
  const planDone = state.plan.every((entry) => entry.status === "completed");
  const shown = sealOpen(
    growText(sealOpen(state, at), { type: "user", text, attachments, messageId: undefined }, at),
    at,
  );
  const plan = planDone ? [] : shown.plan;
  const begun = { running: true, activity: undefined, paused: undefined, hasPlan: false, runningSince: at, plan };
  return announce({ ...shown, ...begun }, t("{0} is working", state.agentName));
}

/** True in plan mode of an agent that has a command to carry out a plan. */
export function isPlanning({ configOptions, commands }: Pick<PanelState, "configOptions" | "commands">): boolean {
  const mode = configOptions.find(({ category }) => category === "mode");
  return mode?.currentValue === "plan" && commands.some(({ name }) => name === "carry-out");
}

/** Stops running tool calls, and adds a line for any end but the ordinary one. */
export function endTurn(state: PanelState, event: Extract<PanelEvent, { kind: "turn-end" }>, at: number): PanelState {
  const settled = stopToolCalls(sealOpen(state, at));
  const idle: PanelState = { ...settled, running: false, runningSince: undefined };
  if (event.error !== undefined) {
    return announce(addFailedTurn(idle, { ...event, text: event.error }, at), t("Error: {0}", event.error));
  }
  // A message that did not reach the agent was a command, such as `/mode plan`, and its answer is no plan.
  const isAnswered = idle.entries.at(-1)?.type === "answer" && lastTurn(idle).prompt?.position !== undefined;
  const hasPlan = event.stopReason === "end_turn" && isPlanning(idle) && isAnswered;
  if (hasPlan) return announce({ ...idle, hasPlan }, t("The plan is ready. {0}", lastReply(idle)));
  const { stopReason } = event;
  const label = stopReason && stopLabels[stopReason];
  if (label) {
    const end = { type: "turn-end", tone: "muted", text: label, fault: stopReason } as const;
    return announce(addEntry(idle, end, at), label);
  }
  return announce(idle, t("{0} has finished. {1}", idle.agentName, lastReply(idle)));
}

/** Adds the line of a failed turn, from an event or a replay. */
export function addFailedTurn(state: PanelState, failed: FailedTurn, at: number): PanelState {
  const { text, fault, keyFor } = failed;
  const known = { ...(fault !== undefined && { fault }), ...(keyFor !== undefined && { keyFor }) };
  return addEntry(state, { type: "turn-end", tone: "error", text, ...known }, at);
}

type FailedTurn = Pick<TurnEndEntry, "text" | "fault" | "keyFor">;

function lastReply(state: PanelState): string {
  const reply = state.entries.findLast((entry) => entry.type === "answer" || entry.type === "user");
  return reply?.type === "answer" ? plainText(wholeText(reply.text).slice(0, SPOKEN_CHARS)) : "";
}

/** The last message of the user, and the calls since. */
export function lastTurn({ entries }: Pick<PanelState, "entries">): LastTurn {
  const start = entries.findLastIndex(({ type }) => type === "user");
  const prompt = entries[start];
  return {
    prompt: prompt?.type === "user" ? sentPrompt(prompt) : undefined,
    hasCalls: entries.slice(start + 1).some(({ type }) => type === "tool"),
  };
}

function sentPrompt({ position, text, attachments }: TextEntry): LastTurn["prompt"] {
  return { position, text: wholeText(text), ...(attachments.length > 0 && { attachments }) };
}

type LastTurn = {
  /** `position`: undefined when the message did not reach the agent. */
  readonly prompt: (Prompt & { readonly position: number | undefined }) | undefined;
  readonly hasCalls: boolean;
};

/** Shows a permission request until the host reports its end, and updates the card of its tool call. */
export function addPermission(state: PanelState, request: PermissionRequest, at: number): PanelState {
  const { reasons, toolCall } = request;
  const id = toolCall.toolCallId;
  // Other agents have no reasons: what the user must know may be in the content, which the request does not show.
  const { content: _, ...shownByRequest } = toolCall;
  const update = reasons.length > 0 ? shownByRequest : toolCall;
  const known = changeToolCall(upsertToolCall(state, update, at), id, { waiting: true });
  const others = known.permissions.filter((other) => other.requestId !== request.requestId);
  const what = request.toolCall.title ?? request.command ?? t("a tool call");
  return announce({ ...known, permissions: [...others, request] }, t("Permission needed: {0}", what));
}

/** Removes the request, and announces `label`. */
export function endPermission(state: PanelState, requestId: string, label: string): PanelState {
  const request = state.permissions.find((other) => other.requestId === requestId);
  if (!request) return state;
  const permissions = state.permissions.filter((other) => other !== request);
  const id = request.toolCall.toolCallId;
  const stillWaiting = permissions.some((other) => other.toolCall.toolCallId === id);
  return announce(changeToolCall({ ...state, permissions }, id, { waiting: stillWaiting }), label);
}

export function addQuestion(state: PanelState, request: QuestionRequest): PanelState {
  const others = state.questions.filter((other) => other.requestId !== request.requestId);
  return announce({ ...state, questions: [...others, request] }, t("Question: {0}", plainText(request.message)));
}

/** Removes the question; the transcript keeps it with `label`, its outcome. */
export function endQuestion(state: PanelState, requestId: string, label: string, at: number): PanelState {
  const request = state.questions.find((other) => other.requestId === requestId);
  if (!request) return state;
  const questions = state.questions.filter((other) => other !== request);
  const text = `${plainText(request.message)} · ${label}`;
  return announce(addEntry({ ...state, questions }, { type: "notice", severity: "info", text }, at), label);
}
