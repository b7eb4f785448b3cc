// `npm run bench:learning`: thirty days of a simulated user, with everything on and with each loop off. The report is a
// Markdown file in test-results/. `--seeds 20 --days 30 --arms on,off --tasks 6 --noise 0.1 --rows FOLDER`. Each arm of
// each seed is a row, a file in that folder; a later run leaves out the rows that are there. `--seeds 0` only reports.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
    rows: { type: "string", default: join("test-results", `learning-${randomBytes(6).toString("hex")}`) },
    verbose: { type: "boolean", default: false },
  },
});
const { rows } = values;
/** All rows of a folder have the same settings. The salt is drawn at its first run. */
const settings = settingsOf(rows, {
  days: Number(values.days),
  tasks: Number(values.tasks),
  noise: Number(values.noise),
});
// In memory where the system allows it: a simulated month writes some ten thousand small files.
if (existsSync("/dev/shm")) process.env["TMPDIR"] ??= "/dev/shm";

for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
  for (const arm of values.arms.split(",").map(armNamed)) {
    const path = join(rows, `${arm.name}-${seed}.json`);
    if (existsSync(path)) continue;
    const run = await runArm({ arm, seed, ...settings });
    const seen = filesWith(run.tokens);
    if (seen.length > 0) throw new Error(`Tokens of the world stood in ${seen.join(", ")} before the run.`);
    writeFileSync(path, JSON.stringify(run));
    process.stderr.write(`${arm.name} ${seed}: ${(run.milliseconds / 1_000).toFixed(0)} s\n`);
    if (values.verbose) printTasks(run);
  }
}
const report = reportOf(readRuns(rows), settings);
mkdirSync("test-results", { recursive: true });
writeFileSync(join("test-results", "learning.md"), `${report}\n`);
console.log(report);

type Settings = { readonly days: number; readonly tasks: number; readonly noise: number; readonly salt: string };

function settingsOf(folder: string, wanted: Omit<Settings, "salt">): Settings {
  const path = join(folder, "settings.json");
  mkdirSync(folder, { recursive: true });
  if (!existsSync(path)) writeFileSync(path, JSON.stringify({ ...wanted, salt: randomBytes(6).toString("hex") }));
  const found: Settings = JSON.parse(readFileSync(path, "utf8"));
  const isSame = found.days === wanted.days && found.tasks === wanted.tasks && found.noise === wanted.noise;
  if (!isSame) throw new Error(`The rows of ${folder} have other settings: ${JSON.stringify(found)}.`);
  return found;
}

/** In the order of the arms, so that the first column is the first arm. */
function readRuns(folder: string): readonly ArmRun[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json") && name !== "settings.json");
  const runs = names.map((name): ArmRun => JSON.parse(readFileSync(join(folder, name), "utf8")));
  const place = ({ arm }: ArmRun): number => ARMS.findIndex(({ name }) => name === arm);
  return runs.toSorted((one, other) => place(one) - place(other) || one.seed - other.seed);
}

function printTasks({ tasks: records }: ArmRun): void {
  for (const { day, family, firstTry, success, corrections, iterations, right, wrong, badSkill } of records) {
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
        badSkill ? "bad skill" : "",
      ].join(" · "),
    );
  }
}
