/** Reads documents in a thread of their own, one thread for all sessions of the process. It ends when it is idle. */
import { Worker } from "node:worker_threads";
import { abortable } from "../platform/deadline.ts";
import type { Page, WebDocument } from "./read-document.ts";

/** A page of 2 MB takes a second on a slow machine. Milliseconds. */
const MAX_MS = 10_000;
/** The libraries and their compiled code stay for the next page. Milliseconds. */
const IDLE_MS = 30_000;
/** Space for new objects: with Node's own size, a large page is collected dozens of times. Megabytes. */
const YOUNG_MB = 64;

type Reading = { readonly thread: Worker; resolve(page: Page): void };

let worker: Worker | undefined;
let idle: NodeJS.Timeout | undefined;
let count = 0;
const readings = new Map<number, Reading>();

/** Starts the thread, so that it loads its libraries while the document is fetched. */
export function warmUpReader(): void {
  if (worker === undefined) rest(startedWorker());
}

/** Rejects only with the reason of `signal`. */
export async function readPage(document: WebDocument, signal: AbortSignal, maxMs = MAX_MS): Promise<Page> {
  clearTimeout(idle);
  const thread = startedWorker();
  count += 1;
  const id = count;
  const { promise, resolve } = Promise.withResolvers<Page>();
  readings.set(id, { thread, resolve });
  const limit = setTimeout(() => {
    resolve({ ok: false, text: `it could not be read within ${maxMs / 1_000} s` });
    end(thread);
  }, maxMs);
  thread.ref();
  thread.postMessage({ id, document });
  try {
    return await abortable(promise, signal);
  } finally {
    clearTimeout(limit);
    readings.delete(id);
    if (readings.size === 0) rest(thread);
  }
}

function rest(thread: Worker): void {
  thread.unref();
  clearTimeout(idle);
  idle = setTimeout(() => end(thread), IDLE_MS).unref();
}

/** The next reading starts a new thread. Other readings of this one fail with its exit. */
function end(thread: Worker): void {
  if (worker === thread) worker = undefined;
  void thread.terminate();
}

/** Path of the thread's script in the bundle, relative to this module's chunk; absent when the sources run. */
declare const __PAGE_WORKER__: string | undefined;

function startedWorker(): Worker {
  if (worker !== undefined) return worker;
  const script = typeof __PAGE_WORKER__ === "string" ? __PAGE_WORKER__ : "./page-worker.ts";
  const thread = new Worker(new URL(script, import.meta.url), {
    // Standard output belongs to the protocol.
    ...{ stdout: true, stderr: true, execArgv: [], name: "hermes-pages" },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  thread.on("message", ({ id, page }: { readonly id: number; readonly page: Page }) => readings.get(id)?.resolve(page));
  thread.once("error", () => undefined); // its exit follows
  thread.once("exit", () => {
    if (worker === thread) worker = undefined;
    for (const reading of readings.values()) {
      if (reading.thread === thread) reading.resolve({ ok: false, text: "its reader stopped" });
    }
  });
  for (const stream of [thread.stdout, thread.stderr]) stream.resume();
  worker = thread;
  return thread;
}
