// npm run test:vscode: the extension-host suite and the browser tests against the packaged extension, in VS Code's
// server. `--suite` or `--e2e` runs one of them; names after it are those of its files to run.
// Needs the bundles and the package: npm run package.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageFile, projectFolder, resultsFolder } from "./project.ts";
import { useRunFolder } from "./run-folder.ts";
import { runInTerminal } from "./run-program.ts";
import { ensureChromium, ensureTestPrograms } from "./system-programs.ts";
import { ensureVSCodeServer } from "./vscode-server-install.ts";
import { runSuite } from "./vscode-suite.ts";

if (!existsSync(packageFile)) throw new Error(`${packageFile} is missing: npm run package makes it.`);

// Installations come first, so that no test's timeout includes one.
await ensureVSCodeServer();
await ensureChromium();
await ensureTestPrograms();

/** Names after this option; undefined without the option. */
const filesOf = (option: string): readonly string[] | undefined => {
  const index = process.argv.indexOf(option);
  return index < 0 ? undefined : process.argv.slice(index + 1);
};
const suiteFiles = filesOf("--suite");
const browserFiles = filesOf("--e2e");
const removeRunFolder = useRunFolder();
let failed = false;

if (browserFiles === undefined) {
  const counts = await runSuite(suiteFiles ?? []);
  console.log(`\nExtension host: ${counts.passed} passed, ${counts.failed} failed\n`);
  failed ||= counts.failed > 0 || counts.passed === 0;
}
if (suiteFiles === undefined) {
  const vitest = join(projectFolder, "node_modules", "vitest", "vitest.mjs");
  const report = ["--reporter=default", "--reporter=json", `--outputFile.json=${join(resultsFolder, "e2e.json")}`];
  const args = [vitest, "run", "--config", "vitest.e2e.config.ts", ...report, ...(browserFiles ?? [])];
  failed = (await runInTerminal({ command: process.execPath, args, cwd: projectFolder })) !== 0 || failed;
}
await removeRunFolder();
process.exitCode = failed ? 1 : 0;
