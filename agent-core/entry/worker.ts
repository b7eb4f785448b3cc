/** The agent in a worker thread of the extension host. Its messages are objects over the parent port. */
import { parentPort } from "node:worker_threads";
import { serve } from "../acp/serve.ts";
import { nodeHost } from "../host/node-host.ts";
import { portStream } from "./port-stream.ts";
import { VERSION } from "./version.ts";

if (parentPort === null) throw new Error("worker.js runs in a worker thread; for a terminal there is acp.js.");

const local = nodeHost();
const service = serve(portStream(parentPort), {
  version: VERSION,
  environment: process.env,
  local,
  log: (line) => process.stderr.write(`${line}\n`),
});
await service.connection.closed;
await service.dispose();
