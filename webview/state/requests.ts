/** Permission requests and questions: shown until the host says how they ended. */
import type { PanelState, PermissionRequest, QuestionRequest } from "./state.ts";
import { announce } from "./state.ts";
import { changeToolCall, upsertToolCall } from "./tool-calls.ts";
import { addEntry } from "./transcript.ts";

/** Shows a permission request, and what it says about its tool call on that call's card. */
export function addPermission(state: PanelState, request: PermissionRequest, at: number): PanelState {
  const id = request.toolCall.toolCallId;
  const known = changeToolCall(upsertToolCall(state, request.toolCall, at), id, { waiting: true });
  const others = known.permissions.filter((other) => other.requestId !== request.requestId);
  const what = request.toolCall.title ?? request.command ?? "a tool call";
  return announce({ ...known, permissions: [...others, request] }, `Permission needed: ${what}`);
}

/** Takes the request away; the card of its call keeps `label`. */
export function endPermission(state: PanelState, requestId: string, label: string): PanelState {
  const request = state.permissions.find((other) => other.requestId === requestId);
  if (!request) return state;
  const permissions = state.permissions.filter((other) => other !== request);
  const id = request.toolCall.toolCallId;
  const stillWaiting = permissions.some((other) => other.toolCall.toolCallId === id);
  return announce(changeToolCall({ ...state, permissions }, id, { waiting: stillWaiting, verdict: label }), label);
}

/** Shows a question of the agent. */
export function addQuestion(state: PanelState, request: QuestionRequest): PanelState {
  const others = state.questions.filter((other) => other.requestId !== request.requestId);
  return announce({ ...state, questions: [...others, request] }, `Question: ${request.message}`);
}

/** Takes the question away; the transcript keeps it with `label`, which says how it ended. */
export function endQuestion(state: PanelState, requestId: string, label: string, at: number): PanelState {
  const request = state.questions.find((other) => other.requestId === requestId);
  if (!request) return state;
  const questions = state.questions.filter((other) => other !== request);
  const text = `${request.message} · ${label}`;
  return announce(addEntry({ ...state, questions }, { type: "notice", severity: "info", text }, at), label);
}
