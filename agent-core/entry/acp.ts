#!/usr/bin/env node
/** `hermes-acp`: checks the runtime, then loads the agent; nothing heavier may be imported here. */
import { enableCompileCache } from "node:module";

/** Oldest Node that the bundles run on; package.json's `engines` says the same of VS Code. */
const OLDEST_NODE = 22;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(`hermes-acp needs Node ${OLDEST_NODE} or newer; this is ${process.version}.\n`);
  process.exitCode = 1;
} else {
  enableCompileCache();
  const { runStdio } = await import("./stdio.ts");
  process.exitCode = await runStdio(process.argv.slice(2));
}
