// `npm run bench:learning`: fifteen days of a simulated user. `--seeds 3 --days 15 --tasks 6 --noise 0.1 --arms on,off
// --rows FOLDER`. Each arm of each seed is a row, a file in that folder; a later run adds the rows that are missing.
// `--seeds 0` only reports. The report is a Markdown file in test-results/.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ARMS, armNamed, reportOf } from "./report.ts";
import { type ArmRun, runArm } from "./run-arm.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "3" },
    from: { type: "string", default: "1" },
    days: { type: "string", default: "15" },
    tasks: { type: "string", default: "6" },
    noise: { type: "string", default: "0.1" },
    arms: { type: "string", default: ARMS.map(({ name }) => name).join(",") },
    rows: { type: "string", default: join("test-results", `learning-${randomBytes(6).toString("hex")}`) },
    /** Drawn at the first run; equal salts give equal worlds. */
    salt: { type: "string" },
    /** Folder in which homes and projects stay; default: none does. */
    keep: { type: "string" },
  },
});
// In memory where the system allows it: each row writes some thousand small files.
if (existsSync("/dev/shm")) process.env["TMPDIR"] ??= "/dev/shm";
const salt = saltOf(values.rows);
for (let seed = Number(values.from); seed < Number(values.from) + Number(values.seeds); seed += 1) {
  for (const arm of values.arms.split(",").map(armNamed)) {
    const path = join(values.rows, `${arm.name}-${seed}.json`);
    if (existsSync(path)) continue;
    const [days, tasks, noise] = [Number(values.days), Number(values.tasks), Number(values.noise)];
    const keep = values.keep === undefined ? undefined : join(values.keep, `${arm.name}-${seed}`);
    const run = await runArm({ arm, seed, salt, days, tasks, noise, keep });
    writeFileSync(path, JSON.stringify(run));
    process.stderr.write(`${arm.name} ${seed}: ${(run.milliseconds / 1_000).toFixed(0)} s\n`);
  }
}
const names = readdirSync(values.rows).filter((name) => name.endsWith(".json") && name !== "salt.json");
const report = reportOf(names.map((name): ArmRun => JSON.parse(readFileSync(join(values.rows, name), "utf8"))));
mkdirSync("test-results", { recursive: true });
writeFileSync(join("test-results", "learning.md"), `${report}\n`);
console.log(report);

function saltOf(folder: string): string {
  const path = join(folder, "salt.json");
  mkdirSync(folder, { recursive: true });
  if (!existsSync(path)) writeFileSync(path, JSON.stringify(values.salt ?? randomBytes(6).toString("hex")));
  return JSON.parse(readFileSync(path, "utf8"));
}
