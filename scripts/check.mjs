// Everything that can be said of the code without running it; stops at nothing, fails when anything does.
import { spawnSync } from "node:child_process";

const checks = [
  ["tables", "node", "scripts/tables.mjs", "--check"],
  ["manifest", "node", "scripts/manifest.mjs"],
  ["biome", "biome", "ci", "."],
  ["types: core", "tsc", "-p", "."],
  ["types: extension", "tsc", "-p", "extension"],
  ["types: webview", "tsc", "-p", "webview"],
  ["floors", "node", "scripts/floors.mjs"],
  ["dead code", "knip", "--no-progress"],
];

const failed = checks.filter(([name, program, ...args]) => {
  const begin = performance.now();
  const { status } = spawnSync(program, args, { stdio: "inherit" });
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
  return status !== 0;
});
if (failed.length > 0) console.error(`\n${failed.length} of ${checks.length} checks failed.`);
process.exitCode = failed.length > 0 ? 1 : 0;
