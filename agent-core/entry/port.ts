/** The agent over a MessagePort. */
import type { MessagePort } from "node:worker_threads";
import { serve } from "../acp/serve.ts";
import { nodeHost } from "../host/node-host.ts";
import { portStream } from "./port-stream.ts";
import { VERSION } from "./version.ts";

/** Serves until the port's stream ends. */
export async function servePort(port: MessagePort): Promise<void> {
  const local = nodeHost();
  const service = serve(portStream(port), {
    version: VERSION,
    environment: process.env,
    local,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  await service.connection.closed;
  await service.dispose();
}
