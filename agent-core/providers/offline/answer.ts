/** What the offline interpreter says or calls next, from the conversation alone: it has no other state. */
import type { Message, ToolMessage, UserMessage } from "../../messages/message.ts";
import { parseRequest } from "./parse-request.ts";
import { rules } from "./rules.ts";
import type { OfflineStep } from "./step.ts";

export type OfflineAnswer =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly lead: string;
    };

const PLAN_TOOL = "todo";
/** The agent begins the text of a failed call with this. */
const FAILED = "Error: ";
/** Longest part of a result that is quoted in the closing words. Characters. */
const QUOTED_CHARS = 1_500;

/** Decides from the last user message and the results that came since. `tools` are the names on offer. */
export function answerOffline(messages: readonly Message[], tools: readonly string[]): OfflineAnswer {
  const start = messages.findLastIndex((message) => message.role === "user");
  const request = messages[start];
  if (request?.role !== "user") return say(help());
  const steps = parseRequest(lastLineOf(request));
  if (steps === undefined) return say(help());
  const missing = steps.find((step) => !tools.includes(step.tool));
  if (missing !== undefined)
    return say(`I cannot do "${missing.title}": the tool ${missing.tool} is not available here.`);
  const results = messages.slice(start + 1).filter((message) => message.role === "tool");
  const plans = steps.length > 1 && tools.includes(PLAN_TOOL);
  return plans ? withPlan(steps, results) : withoutPlan(steps, results);
}

function withoutPlan(steps: readonly OfflineStep[], results: readonly ToolMessage[]): OfflineAnswer {
  const failed = results.find(isFailure);
  const next = steps[results.length];
  if (failed !== undefined || next === undefined) return say(report(steps, results));
  return { kind: "call", tool: next.tool, input: next.input, lead: results.length === 0 ? `${next.title}.` : "" };
}

/** The plan's calls alternate with the steps': plan, step, plan, step … plan. */
function withPlan(steps: readonly OfflineStep[], results: readonly ToolMessage[]): OfflineAnswer {
  const done = results.filter((_, index) => index % 2 === 1);
  const failed = done.some(isFailure);
  const planned = Math.ceil(results.length / 2);
  if (results.length % 2 === 0) {
    if (planned > steps.length || (failed && planned > done.length)) return say(report(steps, done));
    return plan(steps, done);
  }
  const next = steps[done.length];
  if (failed || next === undefined) return say(report(steps, done));
  return { kind: "call", tool: next.tool, input: next.input, lead: "" };
}

function plan(steps: readonly OfflineStep[], done: readonly ToolMessage[]): OfflineAnswer {
  const failed = done.some(isFailure);
  const todos = steps.map(({ title }, index) => ({
    id: String(index + 1),
    content: title,
    status: statusOf(index, done, failed),
  }));
  const lead = done.length === 0 ? `I will do this in ${steps.length} steps.` : "";
  return { kind: "call", tool: PLAN_TOOL, input: { todos }, lead };
}

function statusOf(index: number, done: readonly ToolMessage[], failed: boolean): string {
  const result = done[index];
  if (result !== undefined) return isFailure(result) ? "cancelled" : "completed";
  if (failed) return "cancelled";
  return index === done.length ? "in_progress" : "pending";
}

function report(steps: readonly OfflineStep[], done: readonly ToolMessage[]): string {
  const parts = done.map((result, index) => {
    const title = steps[index]?.title ?? "Step";
    return isFailure(result)
      ? `**${title}** did not work:\n\n${quote(result.content.slice(FAILED.length))}`
      : `**${title}**: done.\n\n${quote(result.content)}`;
  });
  const left = done.some(isFailure) ? steps.slice(done.length) : [];
  if (left.length > 0) parts.push(`Not done: ${left.map(({ title }) => title).join("; ")}.`);
  return parts.join("\n\n");
}

function quote(text: string): string {
  const cut = text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS)}\n…` : text;
  const fence = cut.includes("```") ? "~~~~" : "```";
  const language = /^(---|\+\+\+|@@)/m.test(cut) ? "diff" : "text";
  return `${fence}${language}\n${cut}\n${fence}`;
}

function help(): string {
  return [
    "I am the built-in **offline** interpreter, not a language model. I understand a few requests in plain words:",
    "",
    ...rules.map(({ usage }) => `- \`${usage}\``),
    "",
    'Join several with "then". For a real model set a key (`OPENAI_API_KEY`, `OPENROUTER_API_KEY`, or `HERMES_API_KEY` with `HERMES_BASE_URL` and `HERMES_MODEL`), or run **Hermes: Set API Key** in VS Code.',
  ].join("\n");
}

/** Attachments stand before or after what was typed; the request is the part that is understood. */
function lastLineOf({ content }: UserMessage): string {
  const text =
    typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("\n\n");
  const parts = text.split(/\n{2,}/).filter((part) => !part.startsWith("[Attached") && !part.startsWith("<attachment"));
  // Messages that were never answered are merged with the next one: only the last is meant.
  return parts.at(-1) ?? "";
}

function isFailure(result: ToolMessage): boolean {
  return result.content.startsWith(FAILED);
}

function say(text: string): OfflineAnswer {
  return { kind: "text", text };
}
