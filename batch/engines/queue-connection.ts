/** Connection to a queue: BullMQ on Redis, Valkey or PostgreSQL. Its libraries load with the first queue. */
import { createHash } from "node:crypto";
import type { Job, Processor, Queue, WorkerOptions } from "bullmq";
import * as z from "zod";
import { messageOf, UsageError } from "../../agent-core/platform/errors.ts";
import { TaskResult } from "../task.ts";

/** Name of the queue that all runs and workers of a server share. */
const QUEUE = "hermes-tasks";
/** Name of the queue that keeps large payloads. Nothing works on it. */
const PARTS = "hermes-parts";
/** Payloads from this length on are stored in parts, beside the job. Characters. */
const LARGE_CHARS = 10_000_000;
const PART_CHARS = 4_000_000;
/** A single transaction with more jobs blocks the server for long. */
const JOBS_AT_ONCE = 1_000;
/** Time for the first connection. Milliseconds. */
const CONNECT_MS = 10_000;

/** Content of a job: a text, or the place of a large one. */
export const Carried = z.union([z.object({ text: z.string() }), z.object({ parts: z.string(), count: z.number() })]);
export type Carried = z.infer<typeof Carried>;

type Jobs = Pick<
  Queue<Carried, Carried>,
  "addBulk" | "getCompleted" | "getFailed" | "getWaiting" | "getJob" | "getJobCounts" | "getCompletedCount" | "close"
>;
export type TaskJob = Job<Carried, Carried>;
export type TaskWorker = {
  waitUntilReady(): Promise<unknown>;
  /** Waits for the running tasks. */
  close(): Promise<void>;
  pause(doesNotWait: boolean): Promise<void>;
  resume(): void;
  isPaused(): boolean;
  on(event: "error", listener: (error: Error) => void): unknown;
};
type WorkerTiming = Pick<WorkerOptions, "lockDuration" | "stalledInterval" | "concurrency">;

export class QueueOutOfReachError extends Error {
  override readonly name = "QueueOutOfReachError";
}

/** Connected queues, and workers on them. */
export type TaskQueue = {
  readonly jobs: Jobs;
  readonly parts: Parts;
  /** Lines about settings of the server that lose data. */
  readonly warnings: readonly string[];
  work(process: Processor<Carried, Carried>, timing: WorkerTiming): TaskWorker;
  close(): Promise<void>;
};

/**
 * Rejects with a UsageError for another kind of address, with a QueueOutOfReachError, and with an Error for a server whose
 * settings would lose jobs. `url` may have no password: then HERMES_QUEUE_PASSWORD has it.
 */
export async function openQueue(url: string, password: string | undefined): Promise<TaskQueue> {
  if (!URL.canParse(url))
    throw new UsageError(`--queue ${JSON.stringify(url)} is no address, such as redis://127.0.0.1:6379`);
  const address = new URL(url);
  if (password !== undefined && password !== "") address.password = encodeURIComponent(password);
  if (/^rediss?:$/.test(address.protocol)) return openRedis(address);
  if (/^postgres(?:ql)?:$/.test(address.protocol)) return openPostgres(address);
  throw new UsageError(`--queue ${address.protocol}// is not supported. Use redis://, rediss:// or postgres://`);
}

/**
 * Settings of workers whose defaults lose jobs or time: the second stall of a job would be its end, and a server that comes
 * back would wait for 15 seconds.
 */
const SAFE = { maxStalledCount: 10, maxStartedAttempts: 50, runRetryDelay: 2_000 };

async function openRedis(address: URL): Promise<TaskQueue> {
  // The bundle has only the default export of a library in CommonJS.
  const [{ Queue: RedisQueue, Worker: RedisWorker }, { default: ioredis }] = await Promise.all([
    import("bullmq"),
    import("ioredis"),
  ]);
  // A command of a coordinator fails at once: it is repeated.
  const client = new ioredis.Redis(address.href, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
  });
  client.on("error", () => undefined); // each command reports it
  try {
    await within(client.connect(), address);
    const warnings = await checkRedis(await client.info());
    const options = { connection: client };
    const jobs = new RedisQueue<Carried, Carried>(QUEUE, options);
    const parts = new RedisQueue<{ text: string }>(PARTS, options);
    for (const queue of [jobs, parts]) queue.on("error", () => undefined);
    return {
      jobs,
      parts: new Parts(parts),
      warnings,
      // A command of a worker waits for the server, however long that takes.
      work: (process, timing) => {
        const connection = { url: address.href, maxRetriesPerRequest: null };
        return new RedisWorker<Carried, Carried>(QUEUE, process, { ...SAFE, ...timing, connection });
      },
      close: async () => {
        await Promise.allSettled([jobs.close(), parts.close()]);
        client.disconnect();
      },
    };
  } catch (error) {
    client.disconnect();
    throw error;
  }
}

/** Returns warnings. Throws an Error for a server that removes jobs by itself. */
function checkRedis(info: string): readonly string[] {
  const settingOf = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  const policy = settingOf("maxmemory_policy");
  if (policy !== undefined && policy !== "noeviction") {
    throw new Error(`the queue's server has maxmemory-policy ${policy}, which removes jobs. Set it to noeviction.`);
  }
  if (settingOf("aof_enabled") !== "0") return [];
  return ["The queue's server has no append-only file: after its crash tasks may run again. Set appendonly yes."];
}

async function openPostgres(address: URL): Promise<TaskQueue> {
  const { createPostgresBackend, withBackend } = await import("bullmq");
  const { Queue: PostgresQueue, Worker: PostgresWorker } = withBackend(createPostgresBackend);
  const connection = { connectionString: address.href, migrate: true, schema: "hermes_queue" };
  const jobs = new PostgresQueue<Carried, Carried>(QUEUE, { connection });
  const parts = new PostgresQueue<{ text: string }>(PARTS, { connection });
  for (const queue of [jobs, parts]) queue.on("error", () => undefined);
  const close = async (): Promise<void> => void (await Promise.allSettled([jobs.close(), parts.close()]));
  try {
    await within(jobs.waitUntilReady(), address);
    await within(parts.waitUntilReady(), address);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    jobs,
    parts: new Parts(parts),
    warnings: [],
    work: (process, timing) => new PostgresWorker<Carried, Carried>(QUEUE, process, { ...SAFE, ...timing, connection }),
    close,
  };
}

async function within(work: Promise<unknown>, address: URL): Promise<void> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(new Error("no answer")), CONNECT_MS);
  try {
    await Promise.race([work, limit.promise]);
  } catch (error) {
    throw new QueueOutOfReachError(
      `the queue ${address.protocol}//${address.host} is out of reach: ${messageOf(error)}`,
    );
  } finally {
    clearTimeout(timer);
  }
}

type PartQueue = Pick<Queue<{ text: string }>, "addBulk" | "getJob">;

/** Large payloads, in parts: a job with one would hold up the others. */
export class Parts {
  readonly #queue: PartQueue;

  constructor(queue: PartQueue) {
    this.#queue = queue;
  }

  async store(text: string): Promise<Carried> {
    if (text.length < LARGE_CHARS) return { text };
    const count = Math.ceil(text.length / PART_CHARS);
    const parts = `p-${createHash("sha256").update(text).digest("hex")}`;
    for (let at = 0; at < count; at += 1) {
      const piece = text.slice(at * PART_CHARS, (at + 1) * PART_CHARS);
      await this.#queue.addBulk([{ name: "part", data: { text: piece }, opts: { jobId: `${parts}-${at}` } }]);
    }
    return { parts, count };
  }

  /** Rejects with an Error when a part is missing. */
  async load(carried: Carried): Promise<string> {
    if ("text" in carried) return carried.text;
    const pieces: string[] = [];
    for (let at = 0; at < carried.count; at += 1) {
      const part = await this.#queue.getJob(`${carried.parts}-${at}`);
      if (part === undefined) throw new Error(`part ${at} of a payload is missing in the queue`);
      pieces.push(part.data.text);
    }
    return pieces.join("");
  }

  async remove(carried: Carried): Promise<void> {
    if ("text" in carried) return;
    for (let at = 0; at < carried.count; at += 1) await (await this.#queue.getJob(`${carried.parts}-${at}`))?.remove();
  }
}

/** Id of a job: the same task is one job, however often it is added. It is no number and has no colon, as BullMQ wants. */
export function jobId(run: string, key: string): string {
  return `t-${run}-${key}`;
}

/** Adds the jobs in groups; those that are there stay as they are. */
export async function addJobs(jobs: Pick<Jobs, "addBulk">, added: Parameters<Jobs["addBulk"]>[0]): Promise<void> {
  for (let at = 0; at < added.length; at += JOBS_AT_ONCE) await jobs.addBulk(added.slice(at, at + JOBS_AT_ONCE));
}

/** Result that a worker returned. Rejects with an Error when it is not one of this version. */
export async function resultOf(parts: Parts, returned: unknown): Promise<TaskResult> {
  return TaskResult.parse(JSON.parse(await parts.load(Carried.parse(returned))));
}
