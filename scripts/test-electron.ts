// npm run test:electron: runs the extension-host suite in VS Code for the desktop, which it downloads if missing.
// Needs the bundles: npm run build.
import { rmSync } from "node:fs";
import {
  downloadAndUnzipVSCode,
  resolveCliArgsFromVSCodeExecutablePath,
  runTests,
  TestRunFailedError,
} from "@vscode/test-electron";
import { projectFolder } from "./project.ts";
import { runInTerminal } from "./run-program.ts";
import { buildSuite, packageModelProvider, readCounts, suiteFolders } from "./vscode-suite.ts";

const extensionTestsPath = await buildSuite();
const { root, workspace, resultsFile, userDataFolder, extensionsFolder, env } = suiteFolders();
try {
  const vscodeExecutablePath = await downloadAndUnzipVSCode();
  const [program, ...programArguments] = resolveCliArgsFromVSCodeExecutablePath(vscodeExecutablePath, {
    reuseMachineInstall: true,
  });
  const isRoot = process.getuid?.() === 0;
  const command = {
    command: program ?? vscodeExecutablePath,
    args: [
      ...programArguments,
      ...["--install-extension", await packageModelProvider(root), "--force"],
      ...["--user-data-dir", userDataFolder, "--extensions-dir", extensionsFolder],
      ...(isRoot ? ["--no-sandbox"] : []),
    ],
  };
  if ((await runInTerminal({ ...command, cwd: projectFolder })) !== 0)
    throw new Error("The model provider was not installed.");
  await runTests({
    vscodeExecutablePath,
    extensionDevelopmentPath: projectFolder,
    extensionTestsPath,
    extensionTestsEnv: env,
    launchArgs: [
      workspace,
      "--disable-workspace-trust",
      `--user-data-dir=${userDataFolder}`,
      `--extensions-dir=${extensionsFolder}`,
      ...(isRoot ? ["--no-sandbox"] : []),
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
