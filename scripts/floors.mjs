// Which room may import which (.dependency-cruiser.mjs), with a guard that the tool really read the code: under a
// TypeScript that it does not know it sees no module and reports success.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

const rooms = ["agent-core", "cli", "gateway", "batch", "extension", "webview"].filter((room) => existsSync(room));
const files = rooms
  .flatMap((room) => readdirSync(room, { recursive: true }))
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"));

const { stdout } = spawnSync("depcruise", ["--config", ".dependency-cruiser.mjs", "--output-type", "json", ...rooms], {
  encoding: "utf8",
  maxBuffer: 256 * 1024 * 1024,
});
const { modules, summary } = JSON.parse(stdout);
const read = modules.filter(({ source }) => rooms.some((room) => source.startsWith(`${room}/`))).length;
for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} → ${to}`);
if (read < files.length) console.error(`dependency-cruiser read ${read} of ${files.length} files.`);
process.exitCode = summary.violations.length > 0 || read < files.length ? 1 : 0;
