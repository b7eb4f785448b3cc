#!/usr/bin/env node
/** `hermes`: checks the runtime, then loads the headless chat; nothing heavier may be imported here. */
import { enableCompileCache } from "node:module";

/** Oldest Node that the bundles run on. */
const OLDEST_NODE = 22;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(`hermes needs Node ${OLDEST_NODE} or newer; this is ${process.version}.\n`);
  process.exitCode = 1;
} else {
  enableCompileCache();
  const { runHeadless } = await import("./headless.ts");
  process.exitCode = await runHeadless(process.argv.slice(2));
}
