// npm run check: all checks that run none of the project's code, one per core at a time. Prints the time of each check, and
// its output only if it fails.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

// TypeScript 7 needs a third of the time of TypeScript 6, which dependency-cruiser still reads the code with.
const typescript = dirname(fileURLToPath(import.meta.resolve("typescript-7/package.json")));
const tsc = ["node", join(typescript, "bin", "tsc"), "-p"];

/** Name and command line; the longest checks first. */
const checks = [
  ["types: extension", ...tsc, "extension"],
  ["biome", "biome", "ci", "--diagnostic-level=error", "."],
  ["types: core", ...tsc, "."],
  ["floors", "node", "scripts/floors.mjs"],
  ["dead code", "knip", "--no-progress"],
  ["types: webview", ...tsc, "webview"],
  ["tables", "node", "scripts/tables.mjs", "--check"],
  ["texts", "node", "scripts/texts.mjs"],
  ["house rules", "node", "scripts/house-rules.mjs"],
  ["links", "node", "scripts/doc-links.mjs"],
  ["licences", "node", "scripts/notices.ts", "--check"],
];

async function run([name, program, ...args]) {
  const start = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${code === 0 ? "ok  " : "FAIL"} ${name.padEnd(16)} ${seconds.padStart(5)} s`);
  if (code !== 0) console.log(output + errors);
  return code === 0;
}

const queue = checks.values();
let failed = 0;
async function work() {
  for (const check of queue) if (!(await run(check))) failed += 1;
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed > 0) console.error(`${failed} of ${checks.length} checks failed.`);
process.exitCode = failed > 0 ? 1 : 0;
