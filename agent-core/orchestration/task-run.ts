/** Runs one task: its sub-agent's turns, the correction of its result, the evaluation, and the result from facts. */
import { messageOf } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import type { HermesTask, HermesVerdict } from "../protocol/delegation.ts";
import type { EndStatus, TaskSpec } from "./task-graph.ts";
import { correctionMessage, taskMessage } from "./task-messages.ts";
import { type SchemaCheck, schemaResult, type TaskFacts, type TaskResult } from "./task-result.ts";

/** End of a sub-agent's turn. */
export type ChildEnd = {
  readonly stopReason: "end_turn" | "max_turn_requests" | "max_tokens" | "refusal" | "cancelled" | "error";
  readonly text: string;
  /** Reason of `error`, in a sentence. */
  readonly error?: string;
};

/** A sub-agent: a session of its own. */
export type Child = {
  readonly sessionId: string;
  /** Runs one turn. Rejects on a defect only. */
  run(message: string, signal: AbortSignal): Promise<ChildEnd>;
  /** Sends a message into the running turn. False when none runs. */
  steer(text: string): boolean;
  /** Facts from its journal, up to now. */
  facts(): TaskFacts;
  /** Ends its processes and closes its journal. Resolves to the commands that still ran. */
  close(): Promise<readonly string[]>;
};

/** Progress of a sub-agent for its card. */
export type ChildPorts = {
  /** Title of a tool call that begins. */
  readonly onStep: (title: string) => void;
  /** The facts have changed. */
  readonly onChange: () => void;
  /** It begins or stops to wait for the user, who takes none of its time. */
  readonly onWaiting: (isWaiting: boolean) => void;
};

type EvaluationRequest = {
  readonly task: TaskSpec;
  readonly child: string;
  /** Result up to now, from facts. */
  readonly result: TaskResult;
  /** Number of runs, from 1. */
  readonly attempt: number;
};

type Evaluation = {
  /** Undefined when nothing was judged. */
  readonly verdict: HermesVerdict | undefined;
  /**
   * `accept`: `note` is a doubt about the result, in a sentence. `again`: the sub-agent gets the message and runs again.
   * `stop`: the task fails for this reason.
   */
  readonly next:
    | { readonly kind: "accept"; readonly note?: string }
    | { readonly kind: "again"; readonly message: string }
    | { readonly kind: "stop"; readonly reason: string };
};

export type Evaluate = (request: EvaluationRequest, signal: AbortSignal) => Promise<Evaluation>;

export type TaskPorts = {
  spawn(task: TaskSpec, ports: ChildPorts): Promise<Child>;
  readonly check: SchemaCheck | undefined;
  /** Judges a completed result. Default: every result is accepted. */
  readonly evaluate: Evaluate | undefined;
  /** The state for the card has changed. */
  readonly onChange: () => void;
  readonly now: () => number;
};

/** Wait for a sub-agent to stop, so that its last effects are among the facts. A tool stops within 150 ms. */
const STOP_GRACE_MS = 200;
/** The same when the whole delegation is cancelled, which must be answered at once. */
const CANCEL_GRACE_MS = 25;

export const CANCELLED = "The user cancelled the delegation.";
const STOPPED = "The user stopped it.";

/** `isRejected`: the evaluation found that the result must not be used. */
type Outcome = { readonly status: EndStatus; readonly reason?: string; readonly isRejected?: true };

export class TaskRun {
  readonly task: TaskSpec;
  /** Settles when the sub-agent is closed. */
  closed: Promise<unknown> = Promise.resolve();
  readonly #ports: TaskPorts;
  readonly #stopping = new AbortController();
  readonly #verdicts: HermesVerdict[] = [];
  #child: Child | undefined;
  /** Facts of an ended sub-agent, whose conversation need not stay in memory. */
  #past: { readonly sessionId: string; readonly facts: TaskFacts } | undefined;
  #status: HermesTask["status"] = "waiting";
  #step: string | undefined;
  #reason: string | undefined;
  #attempt = 0;
  #startedAt: number | undefined;
  #durationMs: number | undefined;
  #limit: TimeLimit | undefined;

  constructor(task: TaskSpec, ports: TaskPorts) {
    this.task = task;
    this.#ports = ports;
  }

  /** State for the card. */
  get view(): HermesTask {
    const { id, goal, dependsOn } = this.task;
    const facts = this.#facts;
    const sessionId = this.#child?.sessionId ?? this.#past?.sessionId;
    return {
      id,
      goal: oneLine(goal, GOAL_CHARS),
      dependsOn,
      status: this.#status,
      attempt: this.#attempt,
      ...(sessionId !== undefined && { sessionId }),
      ...(this.#step !== undefined && { step: this.#step }),
      ...(this.#reason !== undefined && { reason: this.#reason }),
      ...(this.#startedAt !== undefined && { startedAt: this.#startedAt }),
      ...(this.#durationMs !== undefined && { durationMs: this.#durationMs }),
      iterations: facts?.iterations ?? 0,
      tokens: facts === undefined ? 0 : facts.usage.inputTokens + facts.usage.outputTokens,
      files: facts?.files ?? [],
      verdicts: [...this.#verdicts],
    };
  }

  get #facts(): TaskFacts | undefined {
    return this.#child?.facts() ?? this.#past?.facts;
  }

  /** Ends the sub-agent; the task becomes `cancelled`. */
  stop(): void {
    this.#stopping.abort();
  }

  /** False when the sub-agent does not run. */
  steer(text: string): boolean {
    return this.#child?.steer(text) ?? false;
  }

  /** Ends a task that never ran. */
  skip({ status, reason }: Outcome): TaskResult {
    this.#end({ status, ...(reason !== undefined && { reason }) });
    return this.#result([]);
  }

  /** Runs the task to its end, also when the signal is aborted. Never rejects. `results`: those of its dependencies. */
  async run(results: readonly TaskResult[], signal: AbortSignal): Promise<TaskResult> {
    if (this.#stopping.signal.aborted) return this.skip({ status: "cancelled", reason: STOPPED });
    const limit = new TimeLimit(this.task.timeoutSeconds);
    this.#limit = limit;
    this.#startedAt = this.#ports.now();
    this.#change("running");
    let made: Made = {};
    let outcome: Outcome;
    const all = AbortSignal.any([signal, this.#stopping.signal, limit.signal]);
    try {
      this.#child = await this.#ports.spawn(this.task, {
        onStep: (title) => this.#show(title),
        onChange: this.#ports.onChange,
        onWaiting: (isWaiting) => (isWaiting ? limit.pause() : limit.resume()),
      });
      ({ outcome, made } = await this.#work(this.#child, results, all, signal));
    } catch (error) {
      outcome = { status: "failed", reason: messageOf(error) };
    }
    limit.dispose();
    const ended = await this.#close(signal);
    this.#end(withFacts(interrupted(signal, this.#stopping.signal, limit) ?? outcome, this.#child?.facts()));
    const result = { ...this.#result(ended), ...made };
    if (this.#child) this.#past = { sessionId: this.#child.sessionId, facts: this.#child.facts() };
    this.#child = undefined;
    return result;
  }

  async #work(
    child: Child,
    results: readonly TaskResult[],
    all: AbortSignal,
    cancel: AbortSignal,
  ): Promise<{ readonly outcome: Outcome; readonly made: Made }> {
    let message = taskMessage(this.task, results);
    for (;;) {
      this.#attempt += 1;
      this.#change("running");
      const end = await this.#turn(child, message, all, cancel);
      const outcome = outcomeOf(end);
      if (outcome.status !== "completed") return { outcome, made: {} };
      const made = await this.#checked(child, end.text, all, cancel);
      const evaluation = await this.#evaluated(child, made, all);
      if (evaluation?.verdict) this.#verdicts.push(evaluation.verdict);
      const next = evaluation?.next ?? { kind: "accept" };
      if (next.kind === "stop") return rejected(next.reason, made);
      if (next.kind === "accept") return { outcome, made: { ...made, ...(next.note && { note: next.note }) } };
      message = next.message;
    }
  }

  /** One turn. After an abort the sub-agent has a moment to stop. */
  async #turn(child: Child, message: string, all: AbortSignal, cancel: AbortSignal): Promise<ChildEnd> {
    const running = child.run(message, all);
    const stopped = Promise.withResolvers<ChildEnd>();
    const onAbort = (): void => {
      const grace = cancel.aborted ? CANCEL_GRACE_MS : STOP_GRACE_MS;
      setTimeout(() => stopped.resolve({ stopReason: "cancelled", text: "" }), grace);
    };
    if (all.aborted) onAbort();
    else all.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([running, stopped.promise]);
    } finally {
      all.removeEventListener("abort", onAbort);
      running.catch(() => undefined); // a defect after the abort changes nothing
    }
  }

  /** The value of a task with a schema, after at most one correction. */
  async #checked(child: Child, answer: string, all: AbortSignal, cancel: AbortSignal): Promise<Made> {
    const { check } = this.#ports;
    const { resultSchema } = this.task;
    if (check === undefined || resultSchema === undefined) return {};
    this.#change("checking");
    const first = schemaResult(answer, check);
    if (first.ok) return { result: first.value, schema_valid: true };
    const { text } = await this.#turn(child, correctionMessage(resultSchema, first.errors), all, cancel);
    const second = schemaResult(text, check);
    if (second.ok) return { result: second.value, schema_valid: true };
    const value = second.value ?? first.value;
    return { ...(value !== undefined && { result: value }), schema_valid: false, errors: second.errors };
  }

  async #evaluated(child: Child, made: Made, signal: AbortSignal): Promise<Evaluation | undefined> {
    const { evaluate } = this.#ports;
    if (evaluate === undefined || signal.aborted) return undefined;
    this.#change("checking");
    const result: TaskResult = { ...this.#result([], "completed"), ...made };
    const request = { task: this.task, child: child.sessionId, result, attempt: this.#attempt };
    this.#limit?.pause(); // the work is done: the judge and the user take none of its time
    try {
      return await evaluate(request, signal);
    } catch {
      return undefined; // an evaluation that fails stops nothing
    } finally {
      this.#limit?.resume();
    }
  }

  /** Resolves to the commands that still ran. A cancelled delegation does not wait for the end of its sub-agents. */
  async #close(cancel: AbortSignal): Promise<readonly string[]> {
    const closing = this.#child?.close().catch(() => []);
    if (closing === undefined) return [];
    this.closed = closing;
    return cancel.aborted ? [] : closing;
  }

  #result(ended: readonly string[], status = this.#status as EndStatus): TaskResult {
    const { answer, ...facts } = this.#child?.facts() ?? NOTHING;
    return {
      id: this.task.id,
      status,
      summary: answer,
      ...(this.#reason !== undefined && { reason: this.#reason }),
      ...facts,
      ...(this.#verdicts.length > 0 && { verdicts: [...this.#verdicts] }),
      ...(ended.length > 0 && { ended_processes: ended }),
      duration: Math.round((this.#durationMs ?? 0) / 100) / 10,
      ...(this.#child && { session: this.#child.sessionId }),
    };
  }

  #end({ status, reason }: Outcome): void {
    this.#reason = reason;
    this.#step = undefined;
    if (this.#startedAt !== undefined) this.#durationMs = this.#ports.now() - this.#startedAt;
    this.#change(status);
  }

  #show(step: string): void {
    this.#step = step;
    this.#ports.onChange();
  }

  #change(status: HermesTask["status"]): void {
    this.#status = status;
    this.#ports.onChange();
  }
}

type Made = Pick<TaskResult, "result" | "schema_valid" | "errors" | "note">;

function rejected(reason: string, made: Made): { readonly outcome: Outcome; readonly made: Made } {
  return { outcome: { status: "failed", reason, isRejected: true }, made };
}

const NOTHING: TaskFacts = {
  files: [],
  commands: [],
  iterations: 0,
  answer: "",
  usage: { inputTokens: 0, outputTokens: 0 },
};

function outcomeOf({ stopReason, error }: ChildEnd): Outcome {
  switch (stopReason) {
    case "end_turn":
      return { status: "completed" };
    case "max_turn_requests":
      return { status: "partial", reason: "It reached its step limit." };
    case "max_tokens":
      return { status: "partial", reason: "Its answer reached the output limit of the model." };
    case "refusal":
      return { status: "failed", reason: "The model refused the task." };
    case "cancelled":
      return { status: "cancelled" };
    case "error":
      return { status: "failed", reason: error ?? "The model could not be used." };
  }
}

/** End from outside; undefined when there was none. */
function interrupted(cancel: AbortSignal, stop: AbortSignal, limit: TimeLimit): Outcome | undefined {
  if (cancel.aborted) return { status: "cancelled", reason: CANCELLED };
  if (stop.aborted) return { status: "cancelled", reason: STOPPED };
  if (limit.signal.aborted) return { status: "timeout", reason: `It ran out of time after ${limit.seconds} s.` };
  return undefined;
}

/** A task that broke off after it changed files is partial: its files are there. */
function withFacts({ status, reason, isRejected }: Outcome, facts: TaskFacts | undefined): Outcome {
  const hasFiles = facts?.files.some(({ shared }) => shared !== true) === true;
  const isPartial = hasFiles && !isRejected && (status === "timeout" || status === "failed");
  return { status: isPartial ? "partial" : status, ...(reason !== undefined && { reason }) };
}

/** Length of a goal on the card. Characters. */
const GOAL_CHARS = 200;

/** Time limit of a task. It pauses while the user is asked. */
class TimeLimit {
  readonly seconds: number;
  readonly #controller = new AbortController();
  #leftMs: number;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  #pauses = 0;

  /** `seconds`: undefined for no limit. */
  constructor(seconds: number | undefined) {
    this.seconds = seconds ?? Number.POSITIVE_INFINITY;
    this.#leftMs = this.seconds * 1_000;
    this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  pause(): void {
    this.#pauses += 1;
    if (this.#pauses > 1) return;
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#since;
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#start();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#pauses = Number.POSITIVE_INFINITY;
  }

  #start(): void {
    if (!Number.isFinite(this.#leftMs)) return;
    this.#since = performance.now();
    this.#timer = setTimeout(() => this.#controller.abort(new Error("timeout")), Math.max(0, this.#leftMs));
  }
}
