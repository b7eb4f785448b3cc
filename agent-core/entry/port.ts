/** The agent over a MessagePort. */
import type { MessagePort } from "node:worker_threads";
import * as z from "zod";
import { serve } from "../acp/serve.ts";
import { nodeHost } from "../host/node-host.ts";
import { takeEnvironment } from "../host/terminals/command-environment.ts";
import { portStream } from "../protocol/port-stream.ts";
import { VERSION } from "./version.ts";

/** Data that the extension gives the worker: `ripgrep` is the absolute path of VS Code's own. */
const startDataSchema = z.object({ ripgrep: z.string().exactOptional() });

/** Serves until the port's stream ends. `startData` is the worker's. */
export async function servePort(port: MessagePort, startData: unknown): Promise<void> {
  const local = nodeHost(startDataSchema.parse(startData ?? {}));
  const service = serve(portStream(port), {
    version: VERSION,
    environment: takeEnvironment(),
    local,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  await service.connection.closed;
  await service.dispose();
  port.close();
}
