/** The agent of a simulation in a process of its own, which can be killed. HERMES_SIMULATED_NOW is its time. */
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@zed-industries/agent-client-protocol";
import { serve } from "../../../agent-core/acp/serve.ts";
import { nodeHost } from "../../../agent-core/host/node-host.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";

const start = Number(process.env["HERMES_SIMULATED_NOW"]) - performance.now();
const output = Writable.toWeb(process.stdout);
const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>; // stdin without an encoding gives bytes

const { connection, dispose } = serve(ndJsonStream(output, input), {
  version: "0.0.0-simulation",
  environment: process.env,
  local: nodeHost(),
  log: (line) => void process.stderr.write(`${line}\n`),
  clock: { ...systemClock, now: () => Math.round(start + performance.now()) },
});
await connection.closed;
await dispose();
