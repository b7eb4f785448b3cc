// npm run screenshots -- FOLDER: pictures of the panel at 200, 320 and 900 px in light, dark and high contrast, written
// into FOLDER by the panel's tests. `--vscode` adds pictures of whole windows of VS Code, by the browser tests.
// `--hunks` takes only those of the review: every kind of hunk, or the kinds named after FOLDER.
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageExtension } from "./package.ts";
import { projectFolder } from "./project.ts";
import { runInTerminal } from "./run-program.ts";
import { takeHunkPictures } from "./screenshots/hunk-pictures.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { vscode: { type: "boolean" }, hunks: { type: "boolean" } },
});
const [folder, ...kinds] = positionals;
if (folder === undefined) throw new Error("usage: npm run screenshots -- FOLDER [--vscode | --hunks [KIND…]]");

const env = { HERMES_SCREENSHOTS: resolve(folder) };
mkdirSync(env.HERMES_SCREENSHOTS, { recursive: true });
if (values.hunks) await takeHunkPictures(env.HERMES_SCREENSHOTS, kinds);
else await takePanelPictures();
console.log(`Pictures: ${env.HERMES_SCREENSHOTS}`);

async function takePanelPictures(): Promise<void> {
  await packageExtension();
  for (const config of ["vitest.panel.config.ts", ...(values.vscode ? ["vitest.e2e.config.ts"] : [])]) {
    const args = ["node_modules/vitest/vitest.mjs", "run", "--config", config];
    const code = await runInTerminal({ command: process.execPath, args, cwd: projectFolder, env });
    if (code !== 0) process.exitCode = 1;
  }
}
