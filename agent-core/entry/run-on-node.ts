/** Checks the runtime, then loads a program; nothing heavier may be imported here. */
// As a whole: a name that an older Node lacks would stop it before it could say what it lacks.
import * as module from "node:module";

/** Oldest Node that the bundles run on; package.json's `engines` says the same of VS Code. */
const OLDEST_NODE = 22;

/** What `load` gives is run with the command line's arguments; its result is the exit code, which is 1 on an older Node. */
export async function runOnNode(
  name: string,
  load: () => Promise<(args: readonly string[]) => Promise<number>>,
): Promise<void> {
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    process.stderr.write(`${name} needs Node ${OLDEST_NODE} or newer; this is ${process.version}.\n`);
    process.exitCode = 1;
    return;
  }
  module.enableCompileCache?.(); // 22.0 has none
  const run = await load();
  process.exitCode = await run(process.argv.slice(2));
}
