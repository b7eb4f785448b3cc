/** Starts the thread of the index. */
import { Worker } from "node:worker_threads";
import type { IndexPlace } from "./index-messages.ts";

/** Where the bundler put the thread's script, seen from this module's chunk; absent when the sources run as they are. */
declare const __INDEX_WORKER__: string | undefined;

/** What it prints is left unread: standard output belongs to the protocol. */
export function startIndexWorker(place: IndexPlace): Worker {
  const script = typeof __INDEX_WORKER__ === "string" ? __INDEX_WORKER__ : "./index-worker.ts";
  const options = { workerData: place, stdout: true, stderr: true, execArgv: [], name: "hermes-index" };
  return new Worker(new URL(script, import.meta.url), options);
}
