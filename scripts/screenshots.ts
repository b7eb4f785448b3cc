// npm run screenshots -- FOLDER: pictures of the panel at 200, 320 and 900 px in light, dark and high contrast, written
// into FOLDER by the panel's tests. `--vscode` adds pictures of whole windows of VS Code, by the browser tests.
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageExtension } from "./package.ts";
import { projectFolder } from "./project.ts";
import { runInTerminal } from "./run-program.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { vscode: { type: "boolean" } } });
const [folder] = positionals;
if (folder === undefined) throw new Error("usage: npm run screenshots -- FOLDER [--vscode]");

const env = { HERMES_SCREENSHOTS: resolve(folder) };
mkdirSync(env.HERMES_SCREENSHOTS, { recursive: true });
await packageExtension();
for (const config of ["vitest.panel.config.ts", ...(values.vscode ? ["vitest.e2e.config.ts"] : [])]) {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", config];
  const code = await runInTerminal({ command: process.execPath, args, cwd: projectFolder, env });
  if (code !== 0) process.exitCode = 1;
}
console.log(`Pictures: ${env.HERMES_SCREENSHOTS}`);
