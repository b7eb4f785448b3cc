/** Checks the runtime, then loads a program; nothing heavier may be imported here. */
// A namespace import: a missing name of an older Node would fail before the version check.
import * as module from "node:module";

/** Oldest Node that the bundles run on; package.json's `engines` says the same of VS Code. */
const OLDEST_NODE = 22;

/** Age at which a process stores its compiled code: a turn has used most of it. Milliseconds. */
const STORE_AFTER_MS = 15_000;

/** Keeps compiled code from start to start. Node stores it at the end of a process, which an editor often kills. */
export function useCompileCache(): void {
  module.enableCompileCache?.(); // 22.0 has none
  setTimeout(() => module.flushCompileCache?.(), STORE_AFTER_MS).unref();
}

/** Runs the program that `load` gives with the command line's arguments. Sets its exit code, or 1 on an older Node. */
export async function runOnNode(
  name: string,
  load: () => Promise<(args: readonly string[]) => Promise<number>>,
): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    process.stderr.write(`${name} needs Node ${OLDEST_NODE} or newer; this is ${process.version}.\n`);
    process.exitCode = 1;
    return;
  }
  useCompileCache();
  const run = await load();
  process.exitCode = await run(process.argv.slice(2));
}
