/**
 * Coordinates workers on other machines over a queue. It polls, as events get lost with their server, and the queue is never
 * the truth: a task that the queue has lost is added again, until its result is on the disk.
 */
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { failed } from "../run-task.ts";
import type { Task } from "../task.ts";
import type { Engine, EnginePorts } from "./in-process.ts";
import { addJobs, jobId, resultOf, type TaskJob, type TaskQueue } from "./queue-connection.ts";

/** Results that one poll takes. */
const PAGE = 100;
/** Wait after a poll without results, and after a failed one. Milliseconds. */
const POLL_MS = 500;
const RETRY_MS = 2_000;
/** After this time without a result, lost tasks are looked for. Milliseconds. */
const QUIET_MS = 30_000;

export type QueueEngineOptions = {
  readonly queue: TaskQueue;
  /** Id of the run in the queue. */
  readonly run: string;
  readonly quietMs?: number;
  readonly pollMs?: number;
};

export function overQueue(options: QueueEngineOptions): Engine {
  return {
    run: (tasks, ports) => new Coordinator(options, tasks, ports).run(),
    dispose: () => options.queue.close(),
  };
}

class Coordinator {
  readonly #options: QueueEngineOptions;
  readonly #ports: EnginePorts;
  /** Tasks without a result, by their jobs' ids. */
  readonly #open: Map<string, Task>;
  #isStopped: boolean = false;
  /** The server was away: it may have lost what it had not written yet. */
  #wasAway: boolean = false;
  #lastResultAt = performance.now();

  constructor(options: QueueEngineOptions, tasks: readonly Task[], ports: EnginePorts) {
    this.#options = options;
    this.#ports = ports;
    this.#open = new Map(tasks.map((task) => [jobId(options.run, task.key), task]));
  }

  async run(): Promise<void> {
    const { cancel } = this.#ports;
    try {
      await this.#untilReached(() => this.#addMissing());
      while (this.#open.size > 0) await this.#advance();
    } catch (error) {
      if (!cancel.aborted) throw error;
    }
  }

  async #advance(): Promise<void> {
    const { stop, cancel } = this.#ports;
    cancel.throwIfAborted();
    if (stop.aborted && !this.#isStopped) await this.#untilReached(() => this.#takeBack());
    const count = await this.#untilReached(() => this.#poll());
    if (this.#wasAway && !this.#isStopped) {
      this.#wasAway = false;
      await this.#untilReached(() => this.#addMissing());
    }
    if (count > 0) this.#lastResultAt = performance.now();
    else await this.#wait();
  }

  /** Repeats the work while the server is away. An error of the run's own folder ends it. */
  async #untilReached<Value>(work: () => Promise<Value>): Promise<Value> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof LocalError) throw error.cause;
        this.#wasAway = true;
        this.#ports.log(`the queue does not answer: ${messageOf(error)}`);
        await delay(RETRY_MS, undefined, { signal: this.#ports.cancel });
      }
    }
  }

  async #addMissing(): Promise<void> {
    const { queue, run } = this.#options;
    const added = [];
    for (const [id, task] of this.#open) {
      added.push({ name: run, data: await queue.parts.store(JSON.stringify(task)), opts: { jobId: id } });
    }
    await addJobs(queue.jobs, added);
  }

  async #wait(): Promise<void> {
    const { pollMs = POLL_MS, quietMs = QUIET_MS } = this.#options;
    await delay(pollMs, undefined, { signal: this.#ports.cancel }).catch(() => undefined);
    if (this.#isStopped || performance.now() - this.#lastResultAt < quietMs) return;
    this.#lastResultAt = performance.now();
    await this.#untilReached(() => this.#addMissing());
  }

  /** Returns the number of results. */
  async #poll(): Promise<number> {
    const { jobs } = this.#options.queue;
    const completed = await this.#takeAll((start) => jobs.getCompleted(start, start + PAGE - 1));
    const broken = await this.#takeAll((start) => jobs.getFailed(start, start + PAGE - 1));
    return completed + broken;
  }

  /** Takes this run's jobs from the pages; those of other runs stay. */
  async #takeAll(page: (start: number) => Promise<TaskJob[]>): Promise<number> {
    let taken = 0;
    for (let start = 0; ; ) {
      const found = await page(start);
      const own = found.filter((job) => job?.name === this.#options.run);
      await Promise.all(own.map((job) => this.#take(job)));
      taken += own.length;
      start += found.length - own.length;
      if (found.length < PAGE) return taken;
    }
  }

  /** The result is on the disk before its job is removed. */
  async #take(job: TaskJob): Promise<void> {
    const { queue } = this.#options;
    const task = this.#open.get(String(job.id));
    if (task !== undefined) {
      const result = await this.#resultOf(job, task);
      await this.#ports.onResult(result).catch((error: unknown) => {
        throw new LocalError(error);
      });
      this.#open.delete(String(job.id));
    }
    await queue.parts.remove(job.data);
    if (job.returnvalue !== null && job.returnvalue !== undefined) await queue.parts.remove(job.returnvalue);
    await job.remove();
  }

  async #resultOf(job: TaskJob, task: Task) {
    const attempts = job.attemptsMade;
    if (job.failedReason) return failed(task, `its workers failed: ${job.failedReason}`, { attempts, durationMs: 0 });
    try {
      return { ...(await resultOf(this.#options.queue.parts, job.returnvalue)), batch: task.batch };
    } catch (error) {
      return failed(task, `its result cannot be read: ${messageOf(error)}`, { attempts, durationMs: 0 });
    }
  }

  /** Takes the jobs back that no worker has begun. */
  async #takeBack(): Promise<void> {
    const { jobs, parts } = this.#options.queue;
    for (let start = 0; ; ) {
      const found = await jobs.getWaiting(start, start + PAGE - 1);
      const own = found.filter(({ name }) => name === this.#options.run);
      for (const job of own) {
        await job.remove();
        await parts.remove(job.data);
        this.#open.delete(String(job.id));
      }
      start += found.length - own.length;
      if (found.length < PAGE) break;
    }
    this.#isStopped = true;
  }
}

/** Error of this machine, such as a full disk, and not of the queue. */
class LocalError extends Error {
  constructor(cause: unknown) {
    super("the result could not be stored", { cause });
  }
}
