/** The next answer or tool call of the offline interpreter. The conversation is its only input. */
import { keyFile } from "../../config/home.ts";
import { callsOf, contentText, type Message, type ToolMessage } from "../../messages/message.ts";
import { oneLine } from "../../platform/one-line.ts";
import { setUpCommand } from "../../platform/own-command.ts";
import { fenced } from "../../platform/visible-text.ts";
import { grammar, type OfflineStep } from "./grammar.ts";
import { maskQuotes } from "./quoting.ts";

export type OfflineAnswer = {
  readonly text: string;
  /** Absent when the text is the whole answer. */
  readonly call?: OfflineCall;
};

type OfflineCall = Pick<OfflineStep, "tool" | "input">;

const PLAN_TOOL = "todo";

/** Decides from the last user message and the results since. `tools`: names of the available tools. */
export function answerOffline(messages: readonly Message[], tools: readonly string[]): OfflineAnswer {
  const start = messages.findLastIndex(({ role }) => role === "user");
  const request = parseRequest(requestText(messages[start]));
  switch (request.kind) {
    case "help":
      return { text: helpText() };
    case "unknown": {
      const stopped = tools.length === 0 ? stoppedText(messages.slice(0, start)) : undefined;
      const problem = request.words === "" ? "" : `I do not understand: ${oneLine(request.words, SHOWN_CHARS)}\n\n`;
      return { text: stopped || `${problem}${helpText()}` };
    }
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
  // A plan that the user asked for is not overwritten.
  const isPlanned = steps.length > 1 && tools.includes(PLAN_TOOL) && steps.every(({ tool }) => tool !== PLAN_TOOL);
  return isPlanned ? withPlan(steps, results) : withoutPlan(followed(steps, results), results);
}

/** The steps of a request of one step, with those that follow from the results so far. */
function followed(steps: readonly OfflineStep[], results: readonly ToolMessage[]): readonly OfflineStep[] {
  if (steps.length !== 1) return steps;
  const all = [...steps];
  for (const [index, result] of results.entries()) {
    const next = isFailure(result) ? undefined : all[index]?.next?.(result.content);
    if (next !== undefined) all.push(next);
  }
  return all;
}

function withoutPlan(steps: readonly OfflineStep[], results: readonly ToolMessage[]): OfflineAnswer {
  const next = steps[results.length];
  if (next === undefined || results.some(isFailure)) return { text: reportOf(steps, results) };
  return { text: results.length === 0 ? next.title.replace(/[^.?!]$/, "$&.") : "", call: next };
}

/** Calls alternate: plan, step, plan, step … plan. */
function withPlan(steps: readonly OfflineStep[], results: readonly ToolMessage[]): OfflineAnswer {
  const done = stepResults(results);
  const isPlansTurn = results.length % 2 === 0;
  const next = steps[done.length];
  const isOver = next === undefined || done.some(isFailure);
  if (isPlansTurn)
    return { text: done.length === 0 ? `I will do this in ${steps.length} steps.` : "", call: planCall(steps, done) };
  return isOver ? { text: reportOf(steps, done) } : { text: "", call: next };
}

/** The whole plan first, then only its changes. */
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

/** A request without tools asks for a summary of the request before it. */
function stoppedText(earlier: readonly Message[]): string | undefined {
  const start = earlier.findLastIndex(({ role }) => role === "user");
  const request = parseRequest(requestText(earlier[start]));
  if (request.kind !== "steps") return undefined;
  const results = resultsOf(earlier.slice(start + 1));
  const calls = earlier.slice(start + 1).flatMap(callsOf);
  const isPlannedTurn = results.length > 0 && calls.some((call) => call.function.name === PLAN_TOOL);
  const stepsDone = isPlannedTurn && request.steps.length > 1 ? stepResults(results) : results;
  return reportOf(followed(request.steps, stepsDone), stepsDone);
}

function stepResults(results: readonly ToolMessage[]): readonly ToolMessage[] {
  return results.filter((_, index) => index % 2 === 1);
}

function resultsOf(messages: readonly Message[]): readonly ToolMessage[] {
  return messages.filter((message) => message.role === "tool");
}

/** The typed text, without the editor's attachments. */
function requestText(message: Message | undefined): string {
  if (message?.role !== "user") return "";
  return contentText(message.content, "\n\n", "")
    .replace(NOTES, "")
    .replace(/<attachment\b[^>]*>[\s\S]*?<\/attachment>/g, "")
    .replace(/^\[(?:Attached|An audio attachment)[^\n]*\]$/gm, "")
    .trim();
}

/** The agent appends its notes in brackets. A list of new problems can follow the last one. */
const NOTES = /(?=\n\n\[)(?:\n{1,2}\[[^\]]*\])+(?: New problems since this edit:(?:\n.+)+)?$/;

const LABEL = "I am the built-in **offline** interpreter, not a language model.";

function howToGetAModel(): string {
  const setUp = setUpCommand();
  const way = setUp === undefined ? "the command **Hermes: Set API Key**" : `\`${setUp}\` in a terminal`;
  return [
    "For a real model set a key: `OPENAI_API_KEY`, `OPENROUTER_API_KEY`, `ANTHROPIC_API_KEY`, or `HERMES_API_KEY` with `HERMES_BASE_URL` and `HERMES_MODEL`",
    `(in the environment or in \`${keyFile(process.env)}\`), or run ${way}.`,
    "A local server needs no key: `HERMES_PROVIDER=ollama` (or `lmstudio`, `llamacpp`) and `HERMES_MODEL`.",
  ].join(" ");
}

/** Longest quote of a request. Characters. */
const SHOWN_CHARS = 120;

function helpText(): string {
  const examples = grammar.flatMap(({ usage }) => usage).map((usage) => `- \`${usage}\``);
  return [
    `${LABEL} I understand a few requests in plain words:`,
    "",
    ...examples,
    "",
    'Several may be joined with "then". Put quotes around a text or a path where it could be misread.',
    "",
    howToGetAModel(),
  ].join("\n");
}

/** Prefix of a failed call's result. */
const FAILED = "Error: ";
const EDITS: ReadonlySet<string> = new Set(["patch", "write_file"]);
/** Result of an edit that says more than the edit's card: the user reviewed it first, or had changed the file. */
const NOTEWORTHY = /^(?:Changed|Created) .*(?:the user accepted|had changed since it was read)/;
/** Longest quote of a result. Characters. */
const QUOTED_CHARS = 1_500;

function isFailure({ content }: ToolMessage): boolean {
  return content.startsWith(FAILED);
}

/** `results`: the results of the first steps, in order. */
function reportOf(steps: readonly OfflineStep[], results: readonly ToolMessage[]): string {
  const done = steps.slice(0, results.length);
  const parts = done.flatMap((step, index) => {
    const content = results[index]?.content ?? "";
    const isReplaced = index + 1 < done.length && step.next?.(content) !== undefined;
    return isReplaced ? [] : [outcome(step, content)];
  });
  const left = steps.slice(results.length);
  if (left.length > 0) parts.push(`Not done: ${left.map(({ title }) => title).join("; ")}.`);
  return parts.join("\n\n");
}

function outcome({ tool, title, report }: OfflineStep, content: string): string {
  if (content.startsWith(FAILED)) return `**${title}** did not work:\n\n${quote(content.slice(FAILED.length))}`;
  if (report !== undefined) return report(content);
  // The card of the edit shows its diff already.
  if (EDITS.has(tool) && !NOTEWORTHY.test(content)) return `**${title}**: done.`;
  return `**${title}**: done.\n\n${quote(content)}`;
}

function quote(text: string): string {
  const cut = text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS).toWellFormed()}\n…` : text;
  return fenced(cut, "text");
}

export type ParsedRequest =
  | { readonly kind: "steps"; readonly steps: readonly OfflineStep[] }
  | { readonly kind: "help" }
  /** `words`: the part without a known form. */
  | { readonly kind: "unknown"; readonly words: string };

/** Longer texts are not parsed, because the patterns would take too long. Characters, with quoted texts. */
const MAX_CHARS = 50_000;
/** The same limit without quoted texts. */
const MAX_PLAIN_CHARS = 5_000;

const VERBS = grammar.flatMap(({ verbs }) => verbs).join("|");
const POLITE = String.raw`(?:(?:please|first|finally|also|now|(?:can|could|would)\s+you)[,\s]+)*`;
/** "then" or a new line, before a verb only: `replace now and then with never in a.txt` is one step. */
const joint = new RegExp(String.raw`(?:[\s,;.]*\s(?:and\s+)?then[,\s]+|\s*\n\s*)(?=${POLITE}(?:${VERBS})\b)`, "i");
const polite = new RegExp(`^${POLITE}`, "i");
const helpWords = /^(?:\/?help|\?|what can you do|what do you understand|hi|hello)(?:\s+me)?[.!?\s]*$/i;

/**
 * Parses the last request. Earlier unanswered messages precede it as paragraphs, so the shortest run of final
 * paragraphs that parses wins.
 */
export function parseRequest(text: string): ParsedRequest {
  if (text.length > MAX_CHARS) return { kind: "unknown", words: text };
  const masked = maskQuotes(text.trim());
  if (masked.text.length > MAX_PLAIN_CHARS) return { kind: "unknown", words: text };
  const paragraphs = masked.text.split(/\n\s*\n/);
  for (let start = paragraphs.length - 1; start >= 0; start -= 1) {
    const words = paragraphs.slice(start).join("\n\n");
    if (helpWords.test(words)) return { kind: "help" };
    const steps = words.split(joint).map((part) => parseStep(masked.unmask(part)));
    if (steps.every((step) => step !== undefined)) return { kind: "steps", steps };
  }
  const last = paragraphs.at(-1) ?? "";
  const unknown = last.split(joint).find((part) => parseStep(masked.unmask(part)) === undefined) ?? last;
  return { kind: "unknown", words: masked.unmask(unknown).trim() };
}

function parseStep(part: string): OfflineStep | undefined {
  const words = part.trim().replace(polite, "");
  for (const form of grammar) {
    const step = form.parse(words);
    if (step !== undefined) return step;
  }
  return undefined;
}
