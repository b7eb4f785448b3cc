/** Start of a plugin, to its registrations, and a call of its tool. Floor: the start of an empty Node process. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve as absolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { leasePlugin, PLUGIN_TIMEOUTS } from "../../agent-core/plugins/plugin-connection.ts";
import { byTurns, median, type Row } from "./measuring.ts";

const RUNS = 15;

export async function measurePlugins(): Promise<readonly Row[]> {
  // The process as it is shipped; from its sources Node compiles TypeScript first.
  Object.assign(globalThis, { __PLUGIN_PROCESS__: pathToFileURL(absolute("dist/plugin-process.js")).href });
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-plugin-"));
  const entry = join(folder, "index.js");
  writeFileSync(
    entry,
    'export default (ctx) => ctx.registerCommand({ name: "a", description: "A", run: () => "a" });\n',
  );
  const empty = join(folder, "empty.mjs");
  writeFileSync(empty, "process.send('ready'); process.on('message', () => process.exit());\n");
  const environment = { PATH: process.env["PATH"] ?? "" };
  const { ours, floor } = await byTurns(
    RUNS,
    async () => {
      const begin = performance.now();
      const timeouts = PLUGIN_TIMEOUTS;
      const options = { entry, config: {}, environment, timeouts, log: () => undefined, onStopped: () => undefined };
      const lease = leasePlugin(options, true);
      await lease.connection.registrations;
      const elapsed = performance.now() - begin;
      await lease.leave();
      return elapsed;
    },
    async () => {
      const begin = performance.now();
      const child = fork(empty, { env: environment, execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
      await once(child, "message");
      const elapsed = performance.now() - begin;
      child.send("end");
      await once(child, "exit");
      return elapsed;
    },
  );
  rmSync(folder, { recursive: true });
  return [{ what: "start of a plugin", ours: median(ours), floor: median(floor), ratio: 4, unit: "ms" }];
}
