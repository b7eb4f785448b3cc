/** The agent in a worker thread of the extension host. Its messages are objects over the parent port. */
import { parentPort, workerData } from "node:worker_threads";
import { useCompileCache } from "../platform/compile-cache.ts";

if (parentPort === null) throw new Error("worker.js runs only in a worker thread; in a terminal, run acp.js.");

useCompileCache(); // before anything heavier is loaded, and for this thread alone
const { servePort } = await import("./port.ts");
await servePort(parentPort, workerData);
