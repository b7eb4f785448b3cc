// npm test: runs all stages, then prints the failures again, a table of the stages, and the sum of all tests as the last
// line. Fails if a stage fails or runs no test. Two lanes of stages run side by side, and the panel's stage after them.
// `--only unit,acp` runs these stages only; `--full` runs every sweep at full size.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { projectFolder, resultsFolder } from "./project.ts";
import { useRunFolder } from "./run-folder.ts";
import { runInFile, runInTerminal } from "./run-program.ts";
import { readStageResults, type StageResults } from "./stage-results.ts";
import { ensureChromium, ensureTestPrograms, tryToInstall } from "./system-programs.ts";
import { ensureVSCodeServer } from "./vscode-server-install.ts";

type Stage = {
  readonly name: string;
  /** Arguments of `node`. */
  readonly args: readonly string[];
  /** File in test-results with a test stage's report. */
  readonly results?: string;
  /** No later stage can run if this one fails. */
  readonly needed?: true;
};

type Outcome = StageResults & { readonly stage: Stage; readonly ok: boolean; readonly seconds: number };

/** The package holds the bundles that all later stages use. */
const preparation: readonly Stage[] = [
  { name: "check", args: ["scripts/check.mjs"] },
  { name: "package", args: ["scripts/package.ts"], needed: true },
];

/**
 * The lanes run side by side: alone, one window of VS Code and its timeouts leave half of two cores idle. So a stage with one
 * window runs beside one with two workers. The lanes take about as long as each other.
 */
const lanes: readonly (readonly Stage[])[] = [
  [vitest("unit", "vitest.config.ts"), vitest("acp", "vitest.acp.config.ts")],
  [
    { name: "e2e", args: ["scripts/test-vscode.ts", "--e2e"], results: "e2e.json" },
    { name: "vscode", args: ["scripts/test-vscode.ts", "--suite"], results: "vscode-suite.json" },
  ],
];

/** Two workers, which fill both cores. */
const panel = vitest("panel", "vitest.panel.config.ts");

const stages: readonly Stage[] = [...preparation, ...lanes.flat(), panel];

const NO_RESULTS: StageResults = { passed: 0, failed: 0, skipped: 0, failures: [] };

const { values: options } = parseArgs({ options: { only: { type: "string" }, full: { type: "boolean" } } });
// test/support/scale.ts reads it in every stage.
if (options.full) process.env["HERMES_TEST_SCALE"] = "full";

// Installations come first, so that no test's timeout includes one.
await ensureTestPrograms();
await tryToInstall(ensureVSCodeServer); // unit tests use its ripgrep
await tryToInstall(ensureChromium); // unit tests of the browser tools use it, besides those of the panel

const started = Date.now();
const chosen = chosenStages();
const removeRunFolder = useRunFolder();
const outcomes = await runStages();
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

/** Outcomes in the order of `stages`. */
async function runStages(): Promise<readonly Outcome[]> {
  mkdirSync(resultsFolder, { recursive: true });
  const isChosen = (stage: Stage): boolean => chosen.includes(stage);
  const prepared = await runInOrder(preparation.filter(isChosen));
  if (prepared.some(({ ok, stage }) => !ok && stage.needed)) return prepared;
  const used = lanes.map((lane) => lane.filter(isChosen)).filter((lane) => lane.length > 0);
  const ended = await Promise.all(used.map((lane) => runInOrder(lane, used.length > 1)));
  return [...prepared, ...ended.flat(), ...(await runInOrder([panel].filter(isChosen)))];
}

async function runInOrder(order: readonly Stage[], isBesideOthers = false): Promise<readonly Outcome[]> {
  const ended: Outcome[] = [];
  for (const stage of order) ended.push(await runStage(stage, isBesideOthers));
  return ended;
}

/** Beside other stages, the output of the stage goes to a file first, and to the terminal at its end. */
async function runProgram(stage: Stage, isBesideOthers: boolean): Promise<number> {
  const program = { command: process.execPath, args: stage.args, cwd: projectFolder };
  if (!isBesideOthers) {
    console.log(`\n━━ ${stage.name}`);
    return runInTerminal(program);
  }
  const log = join(resultsFolder, `${stage.name}.log`);
  console.log(`\n━━ ${stage.name} has started: ${log}`);
  const code = await runInFile(program, log);
  console.log(`\n━━ ${stage.name}\n${readFileSync(log, "utf8").trimEnd()}`);
  return code;
}

async function runStage(stage: Stage, isBesideOthers: boolean): Promise<Outcome> {
  const resultsFile = stage.results === undefined ? undefined : join(resultsFolder, stage.results);
  if (resultsFile !== undefined) rmSync(resultsFile, { force: true });
  const begun = Date.now();
  const code = await runProgram(stage, isBesideOthers);
  const seconds = (Date.now() - begun) / 1000;
  const results = resultsFile === undefined ? NO_RESULTS : resultsOf(resultsFile);
  const ranTests = stage.results === undefined || results.passed + results.failed > 0;
  const ok = code === 0 && results.failed === 0 && ranTests;
  // A stage that fails without a failed test counts as one failure: the sum must not look green.
  return { ...results, stage, ok, failed: ok ? 0 : Math.max(1, results.failed), seconds };
}

function resultsOf(file: string): StageResults {
  try {
    return readStageResults(file);
  } catch (error) {
    return { ...NO_RESULTS, failures: [`The stage left no report: ${String(error)}`] };
  }
}

/** Repeats the failures above the table: a failed test's own output is thousands of lines earlier. */
function printFailures(): void {
  for (const { stage, failures } of outcomes) {
    for (const failure of failures) console.log(`\n✗ ${stage.name}: ${failure.replaceAll("\n", "\n    ")}`);
  }
}

function printSummary(): void {
  const sum = (pick: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + pick(outcome), 0);
  console.log("\nstage    result  passed  failed  skipped     time");
  for (const { stage, ok, passed, failed, skipped, seconds } of outcomes) {
    const result = (ok ? "ok" : "FAILED").padEnd(6);
    const counts = `${cell(passed, 6)}  ${cell(failed, 6)}  ${cell(skipped, 7)}`;
    console.log(
      `${stage.name.padEnd(8)} ${result}  ${stage.results === undefined ? "".padEnd(counts.length) : counts}  ${time(seconds)}`,
    );
  }
  console.log(`${"all".padEnd(41)}  ${time((Date.now() - started) / 1000)}`);
  const skipped = sum((outcome) => outcome.skipped);
  console.log(
    `\n${sum(({ passed }) => passed)} passed, ${sum(({ failed }) => failed)} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
  );
}

function time(seconds: number): string {
  return `${cell(seconds.toFixed(1), 6)} s`;
}

function cell(value: number | string, width: number): string {
  return String(value).padStart(width);
}
