// `npm run bench:learning`: thirty days of a simulated user, with everything on and with each loop off. The report is a
// Markdown file in test-results/. `--seeds 20 --days 30 --arms on,off --tasks 6 --noise 0.1 --salt TEXT`.
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ARMS, armNamed } from "./arms.ts";
import { filesWith } from "./chance.ts";
import { reportOf } from "./report.ts";
import { type ArmRun, runArm } from "./run-arm.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "3" },
    days: { type: "string", default: "30" },
    tasks: { type: "string", default: "6" },
    noise: { type: "string", default: "0.1" },
    arms: { type: "string", default: ARMS.map(({ name }) => name).join(",") },
    salt: { type: "string", default: randomBytes(6).toString("hex") },
    verbose: { type: "boolean", default: false },
  },
});
const { salt, verbose } = values;
const [seeds, days, tasks, noise] = [values.seeds, values.days, values.tasks, values.noise].map(Number) as [
  number,
  number,
  number,
  number,
];
const arms = values.arms.split(",").map(armNamed);

const runs: ArmRun[] = [];
for (let seed = 1; seed <= seeds; seed += 1) {
  for (const arm of arms) {
    const run = await runArm({ arm, seed, salt, days, tasks, noise });
    runs.push(run);
    process.stderr.write(`${arm.name} ${seed}/${seeds}: ${(run.milliseconds / 1_000).toFixed(0)} s\n`);
    if (verbose) printTasks(run);
  }
}
const seen = filesWith([...new Set(runs.flatMap(({ tokens }) => tokens))]);
if (seen.length > 0) throw new Error(`Tokens of the world stood in ${seen.join(", ")} before the run.`);
const report = reportOf(runs, { days, tasks, salt });
mkdirSync("test-results", { recursive: true });
writeFileSync(join("test-results", "learning.md"), `${report}\n`);
writeFileSync(join("test-results", "learning.json"), JSON.stringify(runs));
console.log(report);

function printTasks({ tasks: records }: ArmRun): void {
  for (const { day, family, firstTry, success, corrections, iterations, right, wrong } of records) {
    const late = success ? "in the end" : "never";
    const end = firstTry ? "at once" : late;
    console.log(
      [
        day,
        family,
        end,
        `${corrections} corrections`,
        `${iterations} iterations`,
        right.join(", "),
        wrong.length > 0 ? `wrong: ${wrong.join(", ")}` : "",
      ].join(" · "),
    );
  }
}
