/**
 * The loop of a turn: ask the model, run its tool calls, and repeat until it answers in text. The loop depends on no
 * editor, provider or file; it gets everything through a `Turn`.
 */
import type { Message, ToolCall, ToolMessage, UserMessage } from "../messages/message.ts";
import { newId } from "../platform/new-id.ts";
import type { CallEvent } from "../providers/call/model-route.ts";
import type { Fault } from "../providers/fault.ts";
import type { Usage } from "../providers/wire/wire.ts";
import { type CallSink, type ModelAnswer, readAnswer } from "./answer-reader.ts";
import { budgetWarning, type IterationBudget, SUMMARY_REQUEST } from "./iteration-budget.ts";
import type { Notifier } from "./notifier.ts";
import type { ResolvedCall } from "./resolve-call.ts";
import type { CallServices } from "./run-call.ts";
import { ToolBatch } from "./tool-batch.ts";
import { type TurnHooks, withNote } from "./turn-hooks.ts";

/** Answers in a row without a single valid call that are returned to the model. One more ends the turn. */
const INVALID_ANSWERS_IN_A_ROW = 3;
/** Continuations of an answer that stopped at the model's output limit. */
const MAX_CONTINUATIONS = 3;
const CONTINUE =
  "[The answer above stopped at the output limit. Continue exactly where it stopped, without repeating anything.]";
const LATE_ERRORS =
  "[The editor found new problems in the files that you edited. Fix those that your edits caused, or say why they stay.]";

export type Turn = {
  readonly budget: IterationBudget;
  readonly systemPrompt: string;
  /** Each request has the messages of the one before it unchanged. */
  readonly appendOnly: boolean;
  /** All messages of the session, with the new user message. `record` adds to them. */
  history(): readonly Message[];
  /** Adds a message to the history and the journal, and returns its position in the session. */
  record(message: Message): number;
  /** Shortens the conversation before a request if it does not fit. `isFirst`: first request of the turn. */
  compressIfNeeded(isFirst: boolean): Promise<void>;
  /** Opens one model call; `withTools` is false for the closing summary. */
  callModel(messages: readonly Message[], withTools: boolean, signal: AbortSignal): AsyncIterable<CallEvent>;
  readonly hooks: TurnHooks;
  /** Takes the messages that the user sent during the turn; each message is returned once. */
  takeSteering(): readonly UserMessage[];
  /** Notes about events outside the turn since the last call, one line each. Only the next request contains them. */
  notices(): Promise<readonly string[]>;
  /** Waits a moment for the problems of the turn's edits. Texts for the model when errors came after their results. */
  lateErrors(): Promise<readonly string[]>;
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
  /** Answers in a row without a single valid call. */
  invalidAnswers: number;
  readonly repetition: Repetition;
  /** An answer that is being continued: its text up to now, and the id of its message. */
  partial: { readonly text: string; readonly messageId: string; readonly continuations: number } | undefined;
  /** The model was asked about errors that came late. */
  hasSeenErrors: boolean;
};

type Answered = Extract<ModelAnswer, { ok: true }>;

export async function runTurn(turn: Turn): Promise<TurnOutcome> {
  const progress: Progress = {
    usages: [],
    invalidAnswers: 0,
    repetition: new Repetition(),
    partial: undefined,
    hasSeenErrors: false,
  };
  let end: TurnEnd | undefined;
  try {
    const blocked = await turn.hooks.begin(turn.history(), turn.signal);
    if (blocked !== undefined) end = endWith(`A hook blocked this prompt: ${blocked}`);
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

/** Runs one iteration. Returns the turn's end when this was the last one. */
async function iterate(turn: Turn, progress: Progress): Promise<TurnEnd | undefined> {
  turn.signal.throwIfAborted();
  const batch = new ToolBatch(turn.services, turn.signal);
  const messageId = progress.partial?.messageId ?? newId();
  await turn.compressIfNeeded(turn.budget.used === 1);
  const messages = turn.appendOnly
    ? turn.history()
    : withNote(turn.hooks.withContext(withWarning(turn)), await turn.notices());
  const answer = await ask(turn, messages, { withTools: true, sink: batch, messageId }).catch(async (error) => {
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
    return endWithText(turn, progress, answer, messageId);
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
  const begunAt = turn.services.monotonicNow();
  const { results, invalid, cancelled } = await batch.finish(calls);
  const { note, isStuck } = progress.repetition.count(calls, results, turn.services.monotonicNow() - begunAt);
  for (const [index, result] of results.entries()) {
    const isLast = index === results.length - 1;
    turn.record(isLast && note ? { ...result, content: `${result.content}\n\n${note}` } : result);
  }
  notifyStep(turn, answer, [message, ...results]);
  if (cancelled) return { stopReason: "cancelled", text: "" };
  if (isStuck)
    return endWith(
      "The model made the same calls again and again, with the same results, and was stopped. Send a message that says how to continue.",
    );
  addSteering(turn);
  return tooManyInvalid(progress, calls, invalid);
}

async function endWithText(
  turn: Turn,
  progress: Progress,
  answer: Answered,
  messageId: string,
): Promise<TurnEnd | undefined> {
  const { text: before = "", continuations = 0 } = progress.partial ?? {};
  const text = before + (answer.message.content ?? "");
  if (answer.message.content !== null) turn.record(answer.message);
  notifyStep(turn, answer, [answer.message]);
  if (answer.reason === "refusal") return { stopReason: "refusal", text };
  if (answer.reason === "length" && continuations < MAX_CONTINUATIONS) {
    progress.partial = { text, messageId, continuations: continuations + 1 };
    turn.record({ role: "user", content: CONTINUE, synthetic: true });
    return undefined;
  }
  progress.partial = undefined;
  if (addSteering(turn)) return undefined;
  if (answer.reason === "length") return { stopReason: "max_tokens", text };
  if (await addLateErrors(turn, progress)) return undefined;
  const reason = await turn.hooks.continueFor(text, turn.signal);
  if (reason === undefined) return { stopReason: "end_turn", text };
  turn.record({ role: "user", content: `[A hook continues this turn: ${reason}]`, synthetic: true });
  return undefined;
}

/** Adds the messages that the user sent during the turn. Returns true when there were any. */
function addSteering(turn: Turn): boolean {
  const messages = turn.takeSteering();
  for (const message of messages) {
    turn.notify.steered({ message, position: turn.record(message) });
  }
  return messages.length > 0;
}

/** Asks the model, once in a turn, about errors that its edits caused. Returns true when there were any. */
async function addLateErrors(turn: Turn, progress: Progress): Promise<boolean> {
  if (progress.hasSeenErrors || turn.budget.isSpent) return false;
  const errors = await turn.lateErrors();
  if (errors.length === 0) return false;
  progress.hasSeenErrors = true;
  turn.record({ role: "user", content: [LATE_ERRORS, ...errors].join("\n\n"), synthetic: true });
  return true;
}

function endWith(message: string): TurnEnd {
  return { stopReason: "error", text: "", fault: { kind: "malformed", message } };
}

/** Asks for a summary without tools when the budget is spent. The request for it never enters the history. */
async function closeWithSummary(turn: Turn, progress: Progress): Promise<TurnEnd> {
  const messages: readonly Message[] = [...turn.history(), { role: "user", content: SUMMARY_REQUEST }];
  const sink: CallSink = {
    add: (call) => call,
    kindOf: () => "other",
    mayRepeat: () => false,
    restart: () => undefined,
  };
  const answer = await ask(turn, messages, { withTools: false, sink, messageId: newId() });
  if (!answer.ok) return { stopReason: "error", text: "", fault: answer.fault };
  if (answer.usage) progress.usages.push(answer.usage);
  const text = answer.message.content ?? "";
  if (text !== "") turn.record({ role: "assistant", content: text });
  return { stopReason: "max_turn_requests", text };
}

async function ask(
  turn: Turn,
  messages: readonly Message[],
  { withTools, sink, messageId }: { readonly withTools: boolean; readonly sink: CallSink; readonly messageId: string },
): Promise<ModelAnswer> {
  const request: readonly Message[] = [{ role: "system", content: turn.systemPrompt }, ...messages];
  turn.notify.thinking({ active: true });
  try {
    return await readAnswer(turn.callModel(request, withTools, turn.signal), turn.notify, sink, messageId);
  } finally {
    turn.notify.thinking({ active: false });
  }
}

/** History with a budget warning on its last tool result, for this request only. */
function withWarning({ history: historyOf, budget }: Turn): readonly Message[] {
  const history = historyOf();
  const warning = budgetWarning(budget.used, budget.limit);
  const last = history.at(-1);
  if (warning === undefined || last?.role !== "tool") return history;
  const warned: ToolMessage = { ...last, content: `${last.content}\n\n${warning}` };
  return [...history.slice(0, -1), warned];
}

function notifyStep({ notify, budget }: Turn, { usage, tokens }: Answered, added: readonly Message[]): void {
  notify.step({ iteration: budget.used, maxIterations: budget.limit, usage, added, ...(tokens && { tokens }) });
}

/** Ends a turn whose model can no longer form valid calls, before it spends the whole budget on them. */
function tooManyInvalid(
  progress: Progress,
  calls: readonly ToolCall[],
  invalid: readonly ResolvedCall[],
): TurnEnd | undefined {
  progress.invalidAnswers = invalid.length === calls.length ? progress.invalidAnswers + 1 : 0;
  if (progress.invalidAnswers <= INVALID_ANSWERS_IN_A_ROW) return undefined;
  const names = [...new Set(calls.map(({ function: { name } }) => name))].join(", ");
  return endWith(
    `The model made invalid calls of ${names} in ${progress.invalidAnswers} answers in a row. Try again, or choose another model.`,
  );
}

/** Answers in a row whose calls repeat one of the last, with its results, before the model gets a note. */
const NOTE_AFTER = 10;
/** Further ones before the turn ends. */
const GRACE = 2;
/** Calls with such a word that take this long wait for something, as `sleep 30; gh run view` does. Milliseconds. */
const WAIT_MS = 5_000;
const WAITING = /(?<=^|[\s;&|("]|\\[nt])(?:start-sleep|sleep|wait|watch|timeout \/t)(?=[\s;&|)"\\]|$)/i;
/** Such calls in a row that count as one. */
const WAITS = 6;
/** Different calls of a loop at most: a model may read many files again, such as after a compression. */
const LOOP_CALLS = 6;

/** Times of the day, and numbers with units of time. Numbers with other units are progress. */
const CLOCK =
  /\b\d{8}T?\d{6}Z?\b|\d{1,2}(?::\d\d)+(?:[.,]\d+)?|(?<![\d.,\p{L}])(?:\d+(?:[.,]\d+)? ?(?:[mnuµμ]?s|[hdm]|sec|min|hr|day|hour|minute|(?:milli|micro|nano)?second)s?(?![\p{L}/]) ?)+/giu;
/** Seconds, or smaller parts of them, since 1970. */
const EPOCH = /\b\d{10}(?:\.\d+|\d{3}|\d{6}|\d{9})?\b/g;
const DAY_SECONDS = 86_400;

/** The file of a long result is named after its call, and a clock is no news. */
function newsOf(results: readonly ToolMessage[]): string {
  const isNow = (digits: string): boolean => Math.abs(Number(digits.slice(0, 10)) - Date.now() / 1_000) < DAY_SECONDS;
  const withoutClocks = (text: string): string =>
    text.replaceAll(CLOCK, "").replaceAll(EPOCH, (digits) => (isNow(digits) ? "" : digits));
  return results.map(({ tool_call_id: id, content }) => withoutClocks(content.replaceAll(id, ""))).join("\0");
}

const REPEATED =
  "[The same calls were made again and again, with the same results. Do something else, or tell the user what blocks you.]";

export class Repetition {
  /** Results of the last different calls, oldest first. */
  readonly #last = new Map<string, readonly ToolMessage[]>();
  /** Different calls since the last news. */
  readonly #loop = new Set<string>();
  #times = 0;
  /** As `#times`, where calls that wait count less. */
  #count = 0;
  /** The last calls waited for something. */
  #hasWaited = false;

  /**
   * Counts the calls of one answer, which took `tookMs`: a model that polls gets new results, or waits for them. Returns a note
   * for the model, and true in `isStuck` when the turn must end.
   */
  count(
    calls: readonly ToolCall[],
    results: readonly ToolMessage[],
    tookMs: number,
  ): { readonly note: string | undefined; readonly isStuck: boolean } {
    const called = JSON.stringify(calls.map(({ function: { name, arguments: json } }) => [name, json]));
    const before = this.#last.get(called);
    // Long results are compared only for a call that repeats.
    const isNews = before === undefined || newsOf(results) !== newsOf(before);
    if (isNews) this.#loop.clear();
    this.#loop.add(called);
    const waits = ({ function: { name, arguments: json } }: ToolCall) =>
      WAITING.test(`${name.replaceAll("_", " ")} ${json}`);
    const waited = tookMs >= WAIT_MS && calls.some(waits);
    this.#times = isNews ? 1 : this.#times + 1;
    this.#count = isNews ? 1 : this.#count + (waited || this.#hasWaited ? 1 / WAITS : 1);
    this.#hasWaited = waited;
    this.#last.delete(called);
    this.#last.set(called, results);
    const [oldest = ""] = this.#last.size > LOOP_CALLS ? this.#last.keys() : [];
    this.#last.delete(oldest);
    // Polling with a wait and a look of their own has two answers where one command has one.
    const answers = this.#loop.size > 1 ? 2 : 1;
    const note = this.#times >= (NOTE_AFTER + 1) * answers ? REPEATED : undefined;
    return { note, isStuck: Math.floor(this.#count / answers) > NOTE_AFTER + GRACE };
  }
}
