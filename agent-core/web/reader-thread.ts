/** Reads documents and scales pictures in a thread, one for all sessions of the process. It ends when it is idle. */
import { Worker } from "node:worker_threads";
import { abortable } from "../platform/deadline.ts";
import type { Page, WebDocument } from "./read-document.ts";
import type { ScaledPicture } from "./scale-picture.ts";

/** A page of 2 MB takes a second on a slow machine. Milliseconds. */
const MAX_MS = 10_000;
/** A picture of 50 million pixels takes half of this time. Milliseconds. */
const MAX_PICTURE_MS = 40_000;
/** A document that needs more is a bomb: the limits of a thread do not count its buffers. Bytes. */
const MAX_GROWTH = 1_500_000_000;
/** Interval of measuring. Milliseconds. */
const MEASURE_MS = 100;
/** The libraries and their compiled code stay for the next page. Milliseconds. */
const IDLE_MS = 30_000;
/** Space for new objects. With Node's default, one large page causes dozens of garbage collections. Megabytes. */
const YOUNG_MB = 64;

/** `side`: longer side of the scaled picture in pixels. */
export type Work =
  | { readonly kind: "document"; readonly document: WebDocument }
  | { readonly kind: "picture"; readonly bytes: Uint8Array; readonly side: number };

type Failure = { readonly ok: false; readonly text: string };
type Reading = { readonly thread: Worker; resolve(result: Failure): void };

let worker: Worker | undefined;
let idle: NodeJS.Timeout | undefined;
let count = 0;
const readings = new Map<number, Reading>();

/** Starts the thread, so that it loads its libraries while the document is fetched. */
export function warmUpReader(): void {
  if (worker === undefined) rest(startedWorker());
}

/** Rejects only with the reason of `signal`. */
export function readPage(document: WebDocument, signal: AbortSignal, maxMs = MAX_MS): Promise<Page> {
  return inThread<Page>({ kind: "document", document }, signal, maxMs);
}

/** Scales a PNG or JPEG down to a JPEG with this longer side in pixels. Rejects only with the reason of `signal`. */
export function readScaled(bytes: Uint8Array, side: number, signal: AbortSignal): Promise<ScaledPicture> {
  return inThread<ScaledPicture>({ kind: "picture", bytes, side }, signal, MAX_PICTURE_MS);
}

async function inThread<Result>(work: Work, signal: AbortSignal, maxMs: number): Promise<Result | Failure> {
  clearTimeout(idle);
  const thread = startedWorker();
  count += 1;
  const id = count;
  const { promise, resolve } = Promise.withResolvers<Result | Failure>();
  readings.set(id, { thread, resolve });
  const stop = (text: string): void => {
    resolve({ ok: false, text });
    end(thread);
  };
  const limit = setTimeout(() => stop(`it could not be read within ${maxMs / 1_000} s`), maxMs);
  const before = process.memoryUsage.rss();
  const measuring = setInterval(() => {
    if (process.memoryUsage.rss() - before > MAX_GROWTH) stop("it needs too much memory");
  }, MEASURE_MS);
  thread.ref();
  thread.postMessage({ id, work });
  try {
    return await abortable(promise, signal);
  } finally {
    clearTimeout(limit);
    clearInterval(measuring);
    readings.delete(id);
    // The thread would first finish the work of a cancelled reading, and the next one would wait for that.
    if (readings.size === 0) (signal.aborted ? end : rest)(thread);
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
    stdout: true,
    stderr: true,
    execArgv: [],
    name: "hermes-pages",
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
  });
  thread.on("message", ({ id, result }: { readonly id: number; readonly result: Failure }) =>
    readings.get(id)?.resolve(result),
  );
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
