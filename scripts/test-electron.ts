// npm run test:electron: the extension-host suite in VS Code for the desktop, which is downloaded when it is missing.
// The bundles must be there: npm run build.
import { rmSync } from "node:fs";
import { runTests, TestRunFailedError } from "@vscode/test-electron";
import { projectFolder } from "./project.ts";
import { buildSuite, readCounts, suiteFolders } from "./vscode-suite.ts";

const extensionTestsPath = await buildSuite();
const { root, workspace, resultsFile, userDataFolder, extensionsFolder, env } = suiteFolders();
try {
  await runTests({
    extensionDevelopmentPath: projectFolder,
    extensionTestsPath,
    extensionTestsEnv: env,
    launchArgs: [
      workspace,
      "--disable-workspace-trust",
      `--user-data-dir=${userDataFolder}`,
      `--extensions-dir=${extensionsFolder}`,
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
  });
} catch (error) {
  if (!(error instanceof TestRunFailedError)) throw error;
  process.exitCode = 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
const { passed, failed } = readCounts(resultsFile);
console.log(`\nExtension host: ${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0) process.exitCode = 1;
