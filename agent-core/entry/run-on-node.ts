/** Checks the runtime, then loads a program; nothing heavier may be imported here. */
import { useCompileCache } from "../platform/compile-cache.ts";

/** Oldest Node that the bundles run on; package.json's `engines` says the same of VS Code. */
const OLDEST_NODE = 22;

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
