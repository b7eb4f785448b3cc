/** What the offline interpreter says or calls next, from the conversation alone: it has no other state. */
import type { Message, ToolMessage, UserMessage } from "../../messages/message.ts";
import type { OfflineStep } from "./form.ts";
import { helpText, notUnderstoodText } from "./help.ts";
import { parseRequest } from "./parse-request.ts";
import { isFailure, reportOf } from "./report.ts";

export type OfflineAnswer = {
  readonly text: string;
  /** Left out when the text is all. */
  readonly call?: OfflineCall;
};

type OfflineCall = Pick<OfflineStep, "tool" | "input">;

/** The tool that shows a plan. */
const PLAN_TOOL = "todo";

/** Decides from the last user message and the results that came since. `tools` are the names on offer. */
export function answerOffline(messages: readonly Message[], tools: readonly string[]): OfflineAnswer {
  const start = messages.findLastIndex(({ role }) => role === "user");
  const request = parseRequest(requestText(messages[start]));
  switch (request.kind) {
    case "help":
      return { text: helpText() };
    case "unknown":
      return {
        text: (tools.length === 0 && stoppedText(messages.slice(0, start))) || notUnderstoodText(request.words),
      };
    case "steps":
      return nextOf(request.steps, resultsOf(messages.slice(start + 1)), tools);
  }
}

function nextOf(
  steps: readonly OfflineStep[],
  results: readonly ToolMessage[],
  tools: readonly string[],
): OfflineAnswer {
  const missing = steps.find(({ tool }) => !tools.includes(tool));
  if (missing !== undefined) {
    return {
      text: `I cannot do this: **${missing.title}** needs the tool \`${missing.tool}\`, which is not available here.`,
    };
  }
  return isPlanned(steps, tools) ? withPlan(steps, results) : withoutPlan(steps, results);
}

/** A plan of the user's own is not overwritten by ours. */
function isPlanned(steps: readonly OfflineStep[], tools: readonly string[]): boolean {
  return steps.length > 1 && tools.includes(PLAN_TOOL) && steps.every(({ tool }) => tool !== PLAN_TOOL);
}

function withoutPlan(steps: readonly OfflineStep[], results: readonly ToolMessage[]): OfflineAnswer {
  const next = steps[results.length];
  if (next === undefined || results.some(isFailure)) return { text: reportOf(steps, results) };
  return { text: results.length === 0 ? `${next.title}.` : "", call: next };
}

/** The plan's calls and the steps' take turns: plan, step, plan, step … plan. */
function withPlan(steps: readonly OfflineStep[], results: readonly ToolMessage[]): OfflineAnswer {
  const done = stepResults(results);
  const isPlansTurn = results.length % 2 === 0;
  const next = steps[done.length];
  const isOver = next === undefined || done.some(isFailure);
  if (isPlansTurn)
    return { text: done.length === 0 ? `I will do this in ${steps.length} steps.` : "", call: planCall(steps, done) };
  return isOver ? { text: reportOf(steps, done) } : { text: "", call: next };
}

/** The whole plan at first, then only what changed. */
function planCall(steps: readonly OfflineStep[], done: readonly ToolMessage[]): OfflineCall {
  const hasFailed = done.some(isFailure);
  const todos = steps.map(({ title }, index) => ({
    id: String(index + 1),
    content: title,
    status: statusOf(index, done, hasFailed),
  }));
  if (done.length === 0) return { tool: PLAN_TOOL, input: { todos } };
  const lastChanged = hasFailed ? todos.length : done.length + 1;
  return { tool: PLAN_TOOL, input: { todos: todos.slice(done.length - 1, lastChanged), merge: true } };
}

function statusOf(index: number, done: readonly ToolMessage[], hasFailed: boolean): string {
  const result = done[index];
  if (result !== undefined) return isFailure(result) ? "cancelled" : "completed";
  if (hasFailed) return "cancelled";
  return index === done.length ? "in_progress" : "pending";
}

/** Without tools the agent wants a summary: of the request before, which could not be finished. */
function stoppedText(earlier: readonly Message[]): string | undefined {
  const start = earlier.findLastIndex(({ role }) => role === "user");
  const request = parseRequest(requestText(earlier[start]));
  if (request.kind !== "steps") return undefined;
  const results = resultsOf(earlier.slice(start + 1));
  const isPlannedTurn = results.length > 0 && earlier.slice(start + 1).some(callsPlan);
  return reportOf(request.steps, isPlannedTurn && request.steps.length > 1 ? stepResults(results) : results);
}

function callsPlan(message: Message): boolean {
  return message.role === "assistant" && (message.tool_calls ?? []).some((call) => call.function.name === PLAN_TOOL);
}

function stepResults(results: readonly ToolMessage[]): readonly ToolMessage[] {
  return results.filter((_, index) => index % 2 === 1);
}

function resultsOf(messages: readonly Message[]): readonly ToolMessage[] {
  return messages.filter((message) => message.role === "tool");
}

/** What was typed, without what the editor attached. */
function requestText(message: Message | undefined): string {
  if (message?.role !== "user") return "";
  return textParts(message)
    .replace(/<attachment\b[^>]*>[\s\S]*?<\/attachment>/g, "")
    .replace(/^\[(?:Attached|An audio attachment)[^\n]*\]$/gm, "")
    .trim();
}

function textParts({ content }: UserMessage): string {
  const text =
    typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
  return withoutNotes(text);
}

/** The agent puts notes of its own below what the user says, each a paragraph in brackets. */
function withoutNotes(text: string): string {
  return text.replace(/(?:\n\n\[[^\]]*\])+$/, "");
}
