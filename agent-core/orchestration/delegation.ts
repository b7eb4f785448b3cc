/** Delegation of a session: runs the tasks of all its `delegate_task` calls, a few at a time, each in a sub-agent. */
import type { HermesTask } from "../protocol/delegation.ts";
import { FileOwners } from "./file-owners.ts";
import { type GraphState, graphProblems, initialState, reduceGraph, startable, type TaskSpec } from "./task-graph.ts";
import type { SchemaCheck, TaskResult } from "./task-result.ts";
import { CANCELLED, type Child, type ChildPorts, type Evaluate, TaskRun } from "./task-run.ts";

export type DelegationOptions = {
  /** Maximum number of sub-agents that work at the same time. */
  readonly maxConcurrent: number;
  /** Throws an Error in one line when the schema does not compile. */
  compileSchema(schema: Readonly<Record<string, unknown>>): Promise<SchemaCheck>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** A `delegate_task` call, and the agent that made it. */
export type DelegationCall = {
  readonly callId: string;
  readonly tasks: readonly TaskSpec[];
  readonly signal: AbortSignal;
  /** Reason why the agent cannot give a task what it asks for, in a sentence. */
  problemOf(task: TaskSpec): string | undefined;
  spawn(task: TaskSpec, ports: ChildPorts): Promise<Child>;
  /** Called when a task that has begun ends. */
  onEnd(task: TaskSpec, result: TaskResult): void;
  /** Judges a completed result. Undefined: every result is accepted. */
  readonly evaluate: Evaluate | undefined;
  /** Called with the state of all tasks, at most four times a second. */
  readonly onProgress: (tasks: readonly HermesTask[]) => void;
  /** The caller is itself a sub-agent of this delegation: while it waits, another one may work. */
  readonly isNested: boolean;
};

export type Delegated =
  | { readonly ok: true; readonly results: readonly TaskResult[]; readonly tasks: readonly HermesTask[] }
  /** Nothing was started. `problems`: one sentence each. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Time between two updates of a card. Milliseconds. */
const PROGRESS_MS = 250;

export class Delegation {
  /** Files that running tasks have written. */
  readonly owners = new FileOwners();
  readonly #options: DelegationOptions;
  readonly #slots: Slots;
  readonly #calls = new Map<string, GraphRun>();
  readonly #closing = new Set<Promise<unknown>>();

  constructor(options: DelegationOptions) {
    this.#options = options;
    this.#slots = new Slots(options.maxConcurrent);
  }

  /** Checks the tasks, then runs all of them. Resolves soon after the signal is aborted. */
  async run(call: DelegationCall): Promise<Delegated> {
    const { problems, checks } = await this.#check(call);
    if (problems.length > 0) return { ok: false, problems };
    const run = new GraphRun(call, { checks, slots: this.#slots, owners: this.owners, now: this.#options.now });
    this.#calls.set(call.callId, run);
    if (call.isNested) this.#slots.release();
    const finished = run.finish();
    const closing = finished.catch(() => undefined).then(() => run.closed());
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
    try {
      const results = await finished;
      return { ok: true, results, tasks: run.views };
    } finally {
      this.#calls.delete(call.callId);
      if (call.isNested) await this.#slots.take();
    }
  }

  /** Ends one sub-agent. Does nothing for a task that does not run. */
  stop(callId: string, taskId: string): void {
    this.#calls.get(callId)?.find(taskId)?.stop();
  }

  /** Sends a message into a running sub-agent. False when it does not run. */
  steer(callId: string, taskId: string, text: string): boolean {
    return this.#calls.get(callId)?.find(taskId)?.steer(text) ?? false;
  }

  /** Settles when all calls have ended and their sub-agents are closed. */
  async closed(): Promise<void> {
    await Promise.all(this.#closing);
  }

  async #check({ tasks, problemOf }: DelegationCall) {
    const checks = new Map<string, SchemaCheck>();
    const problems = [...graphProblems(tasks)];
    if (problems.length > 0) return { problems, checks };
    for (const task of tasks) {
      const problem = problemOf(task);
      if (problem !== undefined) problems.push(`${JSON.stringify(task.id)}: ${problem}`);
      if (task.resultSchema === undefined) continue;
      try {
        checks.set(task.id, await this.#options.compileSchema(task.resultSchema));
      } catch (error) {
        problems.push(`${JSON.stringify(task.id)}: its result_schema does not compile: ${String(error)}`);
      }
    }
    return { problems, checks };
  }
}

type GraphServices = {
  readonly checks: ReadonlyMap<string, SchemaCheck>;
  readonly slots: Slots;
  readonly owners: FileOwners;
  readonly now: () => number;
};

class GraphRun {
  readonly #call: DelegationCall;
  readonly #services: GraphServices;
  readonly #runs: ReadonlyMap<string, TaskRun>;
  readonly #results = new Map<string, TaskResult>();
  #state: GraphState;
  #shownAt = Number.NEGATIVE_INFINITY;
  #showing: NodeJS.Timeout | undefined;

  constructor(call: DelegationCall, services: GraphServices) {
    this.#call = call;
    this.#services = services;
    this.#state = initialState(call.tasks);
    const onChange = (): void => this.#showSoon();
    this.#runs = new Map(
      call.tasks.map((task) => {
        const check = services.checks.get(task.id);
        const { spawn, evaluate } = call;
        return [task.id, new TaskRun(task, { spawn, check, evaluate, onChange, now: services.now })];
      }),
    );
  }

  get views(): readonly HermesTask[] {
    return [...this.#runs.values()].map(({ view }) => view);
  }

  find(taskId: string): TaskRun | undefined {
    return this.#runs.get(taskId);
  }

  /** Resolves to the results in the order of the call. */
  async finish(): Promise<readonly TaskResult[]> {
    this.#show();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const running = new Set<string>();
    const advance = (): void => {
      for (const task of startable(this.#state, this.#call.tasks)) {
        running.add(task.id);
        this.#state = reduceGraph(this.#state, { type: "started", id: task.id }, this.#call.tasks);
        this.#runOne(task).then((result) => {
          running.delete(task.id);
          this.#take(result);
          advance();
        }, reject);
      }
      if (running.size === 0) resolve();
    };
    advance();
    await promise;
    clearTimeout(this.#showing); // the result shows the last state
    return this.#call.tasks.map(({ id }) => this.#results.get(id)).filter((result) => result !== undefined);
  }

  /** Settles when all sub-agents are closed. */
  async closed(): Promise<void> {
    await Promise.all([...this.#runs.values()].map(({ closed }) => closed));
  }

  async #runOne(task: TaskSpec): Promise<TaskResult> {
    const { slots, owners } = this.#services;
    const { signal, callId } = this.#call;
    const run = this.#runs.get(task.id);
    if (run === undefined) throw new Error(`The task ${task.id} is unknown.`);
    const isFree = await slots.take(signal);
    if (!isFree) return run.skip({ status: "cancelled", reason: CANCELLED });
    try {
      const result = await run.run([...this.#results.values()], signal);
      this.#call.onEnd(task, result);
      return result;
    } finally {
      slots.release();
      owners.release({ callId, taskId: task.id });
    }
  }

  /** Keeps a result, and skips the tasks that can no longer run. */
  #take(result: TaskResult): void {
    const { id, status, reason } = result;
    this.#results.set(id, result);
    const ended = { type: "ended", id, status, ...(reason !== undefined && { reason }) } as const;
    this.#state = reduceGraph(this.#state, ended, this.#call.tasks);
    for (const [skipped, { status: at, reason: why }] of this.#state) {
      if (at !== "skipped" || this.#results.has(skipped)) continue;
      const run = this.#runs.get(skipped);
      if (run) this.#results.set(skipped, run.skip({ status: at, ...(why !== undefined && { reason: why }) }));
    }
  }

  #showSoon(): void {
    const wait = this.#shownAt + PROGRESS_MS - performance.now();
    if (wait <= 0) this.#show();
    else this.#showing ??= setTimeout(() => this.#show(), wait).unref();
  }

  #show(): void {
    clearTimeout(this.#showing);
    this.#showing = undefined;
    this.#shownAt = performance.now();
    this.#call.onProgress(this.views);
  }
}

/** Places for sub-agents that work at the same time; waiting ones come in order. */
class Slots {
  #free: number;
  readonly #waiting: ((isFree: boolean) => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves to true with a place, and to false without one when the signal is aborted. */
  async take(signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return false;
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const onAbort = (): void => {
      const index = this.#waiting.indexOf(resolve);
      if (index >= 0) this.#waiting.splice(index, 1);
      resolve(false);
    };
    this.#waiting.push(resolve);
    signal?.addEventListener("abort", onAbort, { once: true });
    const isFree = await promise;
    signal?.removeEventListener("abort", onAbort);
    return isFree;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next(true);
  }
}
