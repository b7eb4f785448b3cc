// npm test: every stage in order, what failed once more, a table of what ran, and the sum of all tests as the last line.
// Fails when a stage failed or ran no test. `--only unit,acp` runs only those stages; `--full` runs every sweep at full size.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectFolder, resultsFolder } from "./project.ts";
import { useRunFolder } from "./run-folder.ts";
import { runInTerminal } from "./run-program.ts";
import { readStageResults, type StageResults } from "./stage-results.ts";
import { ensureTestPrograms } from "./test-programs.ts";

/** `results` names the file in test-results where a stage of tests leaves its counts. */
type Stage = {
  readonly name: string;
  readonly args: readonly string[];
  readonly results?: string;
  /** Without what it makes, no later stage can run. */
  readonly needed?: true;
};

type Outcome = StageResults & { readonly stage: Stage; readonly ok: boolean; readonly seconds: number };

const stages: readonly Stage[] = [
  { name: "check", args: ["scripts/check.mjs"] },
  { name: "build", args: ["esbuild.mjs"], needed: true },
  vitest("unit", "vitest.config.ts"),
  vitest("acp", "vitest.acp.config.ts"),
  vitest("panel", "vitest.panel.config.ts"),
  { name: "package", args: ["scripts/package.ts"], needed: true },
  { name: "vscode", args: ["scripts/test-vscode.ts", "--suite"], results: "vscode-suite.json" },
  { name: "e2e", args: ["scripts/test-vscode.ts", "--e2e"], results: "e2e.json" },
];

const NO_RESULTS: StageResults = { passed: 0, failed: 0, failures: [] };

const { values: options } = parseArgs({ options: { only: { type: "string" }, full: { type: "boolean" } } });
// test/support/scale.ts reads it in every stage.
if (options.full) process.env["HERMES_TEST_SCALE"] = "full";

// Before any test's clock runs.
await ensureTestPrograms();

const outcomes: Outcome[] = [];
const removeRunFolder = useRunFolder();
for (const stage of chosenStages()) {
  const outcome = await runStage(stage);
  outcomes.push(outcome);
  if (!outcome.ok && stage.needed) break;
}
await removeRunFolder();
printFailures();
printSummary();
process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1;

function vitest(name: string, config: string): Stage {
  const results = `${name}.json`;
  const report = ["--reporter=default", "--reporter=json", `--outputFile.json=${join(resultsFolder, results)}`];
  return { name, args: ["node_modules/vitest/vitest.mjs", "run", "--config", config, ...report], results };
}

function chosenStages(): readonly Stage[] {
  const only = options.only?.split(",");
  if (only === undefined) return stages;
  const unknown = only.filter((name) => !stages.some((stage) => stage.name === name));
  if (unknown.length === 0) return stages.filter(({ name }) => only.includes(name));
  throw new Error(`There is no stage ${unknown.join(", ")}. Stages: ${stages.map(({ name }) => name).join(", ")}.`);
}

async function runStage(stage: Stage): Promise<Outcome> {
  console.log(`\n━━ ${stage.name}`);
  mkdirSync(resultsFolder, { recursive: true });
  const resultsFile = stage.results === undefined ? undefined : join(resultsFolder, stage.results);
  if (resultsFile !== undefined) rmSync(resultsFile, { force: true });
  const started = Date.now();
  const code = await runInTerminal({ command: process.execPath, args: stage.args, cwd: projectFolder });
  const seconds = (Date.now() - started) / 1000;
  const results = resultsFile === undefined ? NO_RESULTS : resultsOf(resultsFile);
  const ranTests = stage.results === undefined || results.passed + results.failed > 0;
  const ok = code === 0 && results.failed === 0 && ranTests;
  // A stage that fails in another way than by a test that failed counts as one failure: the sum must not look green.
  return { ...results, stage, ok, failed: ok ? 0 : Math.max(1, results.failed), seconds };
}

function resultsOf(file: string): StageResults {
  try {
    return readStageResults(file);
  } catch (error) {
    return { ...NO_RESULTS, failures: [`The stage left no report: ${String(error)}`] };
  }
}

/** A test's own words stand thousands of lines above the table; whoever reads only the end needs them there. */
function printFailures(): void {
  for (const { stage, failures } of outcomes) {
    for (const failure of failures) console.log(`\n✗ ${stage.name}: ${failure.replaceAll("\n", "\n    ")}`);
  }
}

function printSummary(): void {
  console.log("\nstage    result  passed  failed     time");
  for (const { stage, ok, passed, failed, seconds } of outcomes) {
    const result = (ok ? "ok" : "FAILED").padEnd(6);
    const counts = stage.results === undefined ? "".padEnd(14) : `${cell(passed, 6)}  ${cell(failed, 6)}`;
    console.log(`${stage.name.padEnd(8)} ${result}  ${counts}  ${cell(seconds.toFixed(1), 6)} s`);
  }
  const sum = (pick: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + pick(outcome), 0);
  console.log(`\n${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed`);
}

function cell(value: number | string, width: number): string {
  return String(value).padStart(width);
}
