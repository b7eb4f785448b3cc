/** `hermes worker`: works on the tasks of a queue, on any machine. */
import type { Environment } from "../agent-core/config/home.ts";
import { messageOf } from "../agent-core/platform/errors.ts";
import { EXIT } from "../cli/subcommand.ts";
import { Carried, openQueue, QueueOutOfReachError, type TaskJob, type TaskQueue } from "./engines/queue-connection.ts";
import { runTask, type TaskPorts } from "./run-task.ts";
import { Stopping } from "./stopping.ts";
import { Task } from "./task.ts";
import { readTaskBase } from "./task-config.ts";
import { TaskFolders } from "./task-folders.ts";

/** A worker that is dead for this long loses its tasks to others, at the next check. Milliseconds. */
const LOCK_MS = 60_000;
const CHECK_MS = 30_000;
/** Results that may wait for their coordinators before workers pause. */
const MAX_WAITING = 1_000;
const PAUSE_CHECK_MS = 5_000;

export type WorkerSettings = {
  readonly url: string;
  /** Tasks at a time. */
  readonly concurrency: number;
  /** Time of running tasks after a signal. Milliseconds. */
  readonly drainMs: number;
  readonly environment: Environment;
  readonly report: (text: string) => void;
  /** Milliseconds, for tests. */
  readonly lockMs?: number;
  readonly checkMs?: number;
  readonly backOff?: TaskPorts["backOff"];
};

/** Runs until a signal. Returns the exit code. Rejects with an Error in one line. */
export async function runWorker(settings: WorkerSettings): Promise<number> {
  const { url, environment, drainMs } = settings;
  const note = (text: string): void => settings.report(`${text}\n`);
  const base = await readTaskBase(environment);
  let queue: TaskQueue;
  try {
    queue = await openQueue(url, environment["HERMES_QUEUE_PASSWORD"]);
  } catch (error) {
    if (!(error instanceof QueueOutOfReachError)) throw error;
    note(`hermes: ${error.message}`);
    return EXIT.tryAgain;
  }
  for (const warning of queue.warnings) note(`hermes: ${warning}`);
  const folders = new TaskFolders();
  const stopping = new Stopping(note, drainMs);
  const ports: TaskPorts = { base, folders, log: note, ...(settings.backOff && { backOff: settings.backOff }) };
  try {
    await work(queue, settings, { ports, stopping, note });
    return EXIT.done;
  } finally {
    stopping.dispose();
    await queue.close();
    await folders.dispose();
  }
}

type Parts = {
  readonly ports: TaskPorts;
  readonly stopping: Stopping;
  readonly note: (text: string) => void;
};

async function work(
  queue: TaskQueue,
  { concurrency, lockMs = LOCK_MS, checkMs = CHECK_MS }: WorkerSettings,
  { ports, stopping, note }: Parts,
): Promise<void> {
  const { WaitingError } = await import("bullmq");
  const perform = async (job: TaskJob, token?: string): Promise<Carried> => {
    try {
      const task = Task.parse(JSON.parse(await queue.parts.load(Carried.parse(job.data))));
      return await queue.parts.store(JSON.stringify(await runTask(task, ports, stopping.cancel)));
    } catch (error) {
      if (!stopping.cancel.aborted) throw error;
      await job.moveToWait(token); // another worker begins it again
      throw new WaitingError();
    }
  };
  const worker = queue.work(perform, { concurrency, lockDuration: lockMs, stalledInterval: checkMs });
  worker.on("error", (error) => note(`the queue: ${messageOf(error)}`));
  await worker.waitUntilReady();
  const pausing = setInterval(() => void pauseWhenFull(queue, worker), PAUSE_CHECK_MS);
  note(`Ready: ${concurrency} tasks at a time.`);
  await aborted(stopping.stop);
  clearInterval(pausing);
  await worker.close();
}

/** Results that nobody takes fill the server's memory. */
async function pauseWhenFull({ jobs }: TaskQueue, worker: ReturnType<TaskQueue["work"]>): Promise<void> {
  const waiting = await jobs.getCompletedCount().catch(() => 0);
  if (waiting >= MAX_WAITING && !worker.isPaused()) await worker.pause(true);
  else if (waiting < MAX_WAITING && worker.isPaused()) worker.resume();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
