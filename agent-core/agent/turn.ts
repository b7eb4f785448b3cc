/**
 * The loop: ask the model, run what it calls, ask again, until it answers in words. Everything it knows comes in as a
 * `Turn`; it knows no editor, no provider and no file.
 */
import { randomUUID } from "node:crypto";
import type { Message, ToolCall, ToolMessage, UserMessage } from "../messages/message.ts";
import { repairMessages } from "../messages/repair.ts";
import type { CallEvent } from "../providers/call/call-model.ts";
import type { Fault } from "../providers/fault.ts";
import type { Usage } from "../providers/wire/wire.ts";
import { type CallTaker, type ModelAnswer, readAnswer } from "./answer-reader.ts";
import { budgetWarning, type IterationBudget, SUMMARY_REQUEST } from "./budget.ts";
import type { Notifier } from "./notifier.ts";
import type { CallServices, ResolvedCall } from "./run-call.ts";
import { ToolBatch } from "./tool-batch.ts";

/** A tool called with unusable arguments is explained to the model this often in a row; behaviour.md §AIAgent. */
const INVALID_CALLS_IN_A_ROW = 3;
/** An answer that stops at the model's output limit is continued this often; behaviour.md §API modes, Faults. */
const MAX_CONTINUATIONS = 3;
const CONTINUE =
  "[The answer above stopped at the output limit. Go on exactly where it stopped, without repeating anything.]";

export type Turn = {
  readonly budget: IterationBudget;
  readonly systemPrompt: string;
  /** The conversation so far, the new user message included; grows through `record`. */
  history(): readonly Message[];
  /** Adds a message to the history and to the journal, and gives its position in the session. */
  record(message: Message): number;
  /** Before a request: the conversation is made to fit. `isFirst`: the turn begins with it. */
  makeRoom(isFirst: boolean): Promise<void>;
  /** Opens one model call; `withTools` is false for the closing summary. */
  callModel(messages: readonly Message[], withTools: boolean, signal: AbortSignal): AsyncIterable<CallEvent>;
  /** What the user has said since the turn began; each message is given once. */
  takeSteering(): readonly UserMessage[];
  /** What happened outside the turn since it was last asked, one line each; said with the next request only. */
  notices(): Promise<readonly string[]>;
  readonly services: CallServices;
  readonly notify: Notifier;
  readonly signal: AbortSignal;
};

export type TurnEnd =
  | {
      readonly stopReason: "end_turn" | "max_turn_requests" | "max_tokens" | "refusal";
      readonly text: string;
    }
  | { readonly stopReason: "cancelled"; readonly text: "" }
  | { readonly stopReason: "error"; readonly text: ""; readonly fault: Fault };

export type TurnOutcome = {
  readonly end: TurnEnd;
  readonly iterations: number;
  /** Usage of each model call that reported one. */
  readonly usages: readonly Usage[];
};

type Progress = {
  readonly usages: Usage[];
  readonly invalid: Map<string, number>;
  readonly repetition: Repetition;
  /** The answer that is being continued: what it has said, and under which id it is shown. */
  partial: { readonly text: string; readonly messageId: string; readonly continuations: number } | undefined;
};

type Answered = Extract<ModelAnswer, { ok: true }>;

export async function runTurn(turn: Turn): Promise<TurnOutcome> {
  const progress: Progress = {
    usages: [],
    invalid: new Map(),
    repetition: new Repetition(),
    partial: undefined,
  };
  let end: TurnEnd | undefined;
  try {
    while (end === undefined && !turn.budget.isSpent) {
      turn.budget.take();
      end = await iterate(turn, progress);
    }
    end ??= await closeWithSummary(turn, progress);
  } catch (error) {
    if (!turn.signal.aborted) throw error;
    end = { stopReason: "cancelled", text: "" };
  }
  return { end, iterations: turn.budget.used, usages: progress.usages };
}

/** One iteration; gives the turn's end when this was the last. */
async function iterate(turn: Turn, progress: Progress): Promise<TurnEnd | undefined> {
  turn.signal.throwIfAborted();
  const batch = new ToolBatch(turn.services, turn.signal);
  const messageId = progress.partial?.messageId ?? randomUUID();
  await turn.makeRoom(turn.budget.used === 1);
  const messages = withNote(withWarning(turn), await turn.notices());
  const answer = await ask(turn, messages, { withTools: true, taker: batch, messageId }).catch(async (error) => {
    await batch.settle();
    throw error;
  });
  if (!answer.ok) {
    await batch.settle();
    return { stopReason: "error", text: "", fault: answer.fault };
  }
  if (answer.usage) progress.usages.push(answer.usage);
  const calls = answer.message.tool_calls ?? [];
  if (calls.length === 0) {
    await batch.settle();
    return endInWords(turn, progress, answer, messageId);
  }
  return runCalls(turn, progress, answer, batch);
}

async function runCalls(
  turn: Turn,
  progress: Progress,
  answer: Answered,
  batch: ToolBatch,
): Promise<TurnEnd | undefined> {
  const { message } = answer;
  const calls = message.tool_calls ?? [];
  progress.partial = undefined;
  turn.record(message);
  const { results, invalid, cancelled } = await batch.finish(calls);
  const { note, isStuck, times } = progress.repetition.count(calls);
  for (const [index, result] of results.entries()) {
    const isLast = index === results.length - 1;
    turn.record(isLast && note ? { ...result, content: `${result.content}\n\n${note}` } : result);
  }
  step(turn, answer, [message, ...results]);
  if (cancelled) return { stopReason: "cancelled", text: "" };
  if (isStuck)
    return endWith(`The model made the same call ${times} times in a row and was stopped. Tell it how to go on.`);
  steer(turn);
  return tooManyInvalid(progress, calls, invalid);
}

function endInWords(turn: Turn, progress: Progress, answer: Answered, messageId: string): TurnEnd | undefined {
  const { text: before = "", continuations = 0 } = progress.partial ?? {};
  const text = before + (answer.message.content ?? "");
  if (answer.message.content !== null) turn.record(answer.message);
  step(turn, answer, [answer.message]);
  if (answer.reason === "refusal") return { stopReason: "refusal", text };
  if (answer.reason === "length" && continuations < MAX_CONTINUATIONS) {
    progress.partial = { text, messageId, continuations: continuations + 1 };
    turn.record({ role: "user", content: CONTINUE, synthetic: true });
    return undefined;
  }
  progress.partial = undefined;
  if (steer(turn)) return undefined;
  return { stopReason: answer.reason === "length" ? "max_tokens" : "end_turn", text };
}

/** Lets what the user said in the meantime into the conversation; true when there was something. */
function steer(turn: Turn): boolean {
  const said = turn.takeSteering();
  for (const message of said) {
    turn.notify.steered({ message, position: turn.record(message) });
  }
  return said.length > 0;
}

function endWith(message: string): TurnEnd {
  return { stopReason: "error", text: "", fault: { kind: "malformed", message } };
}

/** The budget is used up: one last call without tools sums up. Its request is never part of the history. */
async function closeWithSummary(turn: Turn, progress: Progress): Promise<TurnEnd> {
  const messages: readonly Message[] = [...turn.history(), { role: "user", content: SUMMARY_REQUEST }];
  const taker: CallTaker = { add: (call) => call, mayRepeat: () => false, restart: () => undefined };
  const answer = await ask(turn, messages, { withTools: false, taker, messageId: randomUUID() });
  if (!answer.ok) return { stopReason: "error", text: "", fault: answer.fault };
  if (answer.usage) progress.usages.push(answer.usage);
  const text = answer.message.content ?? "";
  if (text !== "") turn.record({ role: "assistant", content: text });
  return { stopReason: "max_turn_requests", text };
}

async function ask(
  turn: Turn,
  messages: readonly Message[],
  {
    withTools,
    taker,
    messageId,
  }: { readonly withTools: boolean; readonly taker: CallTaker; readonly messageId: string },
): Promise<ModelAnswer> {
  const request: readonly Message[] = repairMessages([{ role: "system", content: turn.systemPrompt }, ...messages]);
  turn.notify.thinking({ active: true });
  try {
    return await readAnswer(turn.callModel(request, withTools, turn.signal), turn.notify, taker, messageId);
  } finally {
    turn.notify.thinking({ active: false });
  }
}

/** The history with a budget warning on its last tool result: in this request only, never stored. */
function withWarning({ history: historyOf, budget }: Turn): readonly Message[] {
  const history = historyOf();
  const warning = budgetWarning(budget.used, budget.limit);
  const last = history.at(-1);
  if (warning === undefined || last?.role !== "tool") return history;
  const warned: ToolMessage = { ...last, content: `${last.content}\n\n${warning}` };
  return [...history.slice(0, -1), warned];
}

function step({ notify, budget }: Turn, { usage }: Answered, added: readonly Message[]): void {
  notify.step({ iteration: budget.used, maxIterations: budget.limit, usage, added });
}

/** A model that cannot form a call any more would burn the whole budget on it. */
function tooManyInvalid(
  { invalid }: Progress,
  calls: readonly ToolCall[],
  failed: readonly ResolvedCall[],
): TurnEnd | undefined {
  const failedIds = new Set(failed.map(({ call }) => call.id));
  for (const name of new Set(calls.map((call) => call.function.name))) {
    const allFailed = calls.every(({ id, function: called }) => called.name !== name || failedIds.has(id));
    const count = allFailed ? (invalid.get(name) ?? 0) + 1 : 0;
    invalid.set(name, count);
    if (count > INVALID_CALLS_IN_A_ROW) {
      return endWith(
        `The model called ${name} ${count} times in a row in a way that cannot be carried out. Try again, or choose another model.`,
      );
    }
  }
  return undefined;
}

/** What the model is told once: said with the next request, never stored. */

/** The messages with the note at the end of the last one, when that is a tool's result or the user's. */
export function withNote(messages: readonly Message[], lines: readonly string[]): readonly Message[] {
  const last = messages.at(-1);
  if (lines.length === 0 || last === undefined) return messages;
  const earlier = messages.slice(0, -1);
  const note = lines.join("\n");
  if (last.role === "tool") return [...earlier, { ...last, content: `${last.content}\n\n${note}` }];
  if (last.role !== "user") return messages;
  const content =
    typeof last.content === "string"
      ? `${last.content}\n\n${note}`
      : [...last.content, { type: "text" as const, text: note }];
  return [...earlier, { ...last, content }];
}

/** A model that makes the same call over and over: it is told, then the user is. */

/** More than this often in a row is a loop; behaviour.md §API modes, Faults. */
const TOLD_AFTER = 10;
/** Calls it may still make after it was told. */
const GRACE = 2;

export class Repetition {
  #last = "";
  #count = 0;

  /** Counts the calls of one answer; gives what is to be done about them. */
  count(calls: readonly ToolCall[]): {
    readonly note: string | undefined;
    readonly isStuck: boolean;
    readonly times: number;
  } {
    const key = JSON.stringify(calls.map(({ function: { name, arguments: json } }) => [name, json]));
    this.#count = key === this.#last ? this.#count + 1 : 1;
    this.#last = key;
    const times = this.#count;
    if (times <= TOLD_AFTER) return { note: undefined, isStuck: false, times };
    const note = `[This same call was made ${times} times in a row. Do something else, or tell the user what is in the way.]`;
    return { note, isStuck: times > TOLD_AFTER + GRACE, times };
  }
}
