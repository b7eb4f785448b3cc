/** The agent in a worker thread of the extension host. Its messages are objects over the parent port. */
import * as module from "node:module";
import { parentPort, workerData } from "node:worker_threads";

if (parentPort === null) throw new Error("worker.js runs in a worker thread; for a terminal there is acp.js.");

module.enableCompileCache?.(); // before anything heavier is loaded, and for this thread alone; Node 22.0 has none
const { servePort } = await import("./port.ts");
await servePort(parentPort, workerData);
