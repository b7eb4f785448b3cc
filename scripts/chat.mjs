// `npm run chat -- "prompt"`: builds the core when it is not built, then runs the headless chat.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

if (!existsSync("dist/cli.js")) spawnSync("node", ["esbuild.mjs", "--only=core"], { stdio: "inherit" });
const { status, signal } = spawnSync("node", ["dist/cli.js", ...process.argv.slice(2)], { stdio: "inherit" });
process.exitCode = signal === "SIGINT" ? 130 : (status ?? 1);
