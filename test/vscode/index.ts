// Runs every suite of suites/ inside an extension host. Bundled by scripts/vscode-suite.ts; VS Code calls run().
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "node:util";

/** Mocha's counts and failures, written as JSON to the file that HERMES_TEST_RESULTS names. */
export type SuiteResults = {
  passed: number;
  failed: number;
  readonly failures: { readonly title: string; readonly message: string }[];
};

/** First characters of every line of the report: extensions print to the same console. */
const LINE_MARK = "[suite] ";

/** Limit for a test that hangs: a busy machine of two cores may take ten times as long as a quiet one. */
const TEST_LIMIT_MS = 120_000;

/** @throws when a test failed or none ran. */
export async function run(): Promise<void> {
  // Imported when VS Code calls: mocha is an ES module, this bundle is CommonJS.
  const { default: Mocha } = await import("mocha");
  const mocha = new Mocha({ ui: "tdd", color: false, reporter: "spec", timeout: TEST_LIMIT_MS, forbidOnly: true });
  Mocha.reporters.Base.consoleLog = (...args) => console.log(format(...args).replaceAll(/^/gm, LINE_MARK));
  const suites = join(__dirname, "suites");
  for (const file of readdirSync(suites).sort()) if (file.endsWith(".cjs")) mocha.addFile(join(suites, file));

  const results: SuiteResults = { passed: 0, failed: 0, failures: [] };
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on("pass", () => {
      results.passed += 1;
    });
    runner.on("fail", (test, error) => {
      results.failed += 1;
      results.failures.push({ title: test.fullTitle(), message: error.stack ?? error.message });
    });
  });
  const resultsFile = process.env["HERMES_TEST_RESULTS"];
  if (resultsFile !== undefined) writeFileSync(resultsFile, JSON.stringify(results));
  if (results.failed > 0) throw new Error(`${results.failed} of the tests in the extension host failed.`);
  if (results.passed === 0) throw new Error("No test ran in the extension host.");
}
