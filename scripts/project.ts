// Paths of the project and of its scripts' output.

import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the repository. */
export const projectFolder = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

/** Downloads and builds for running a real VS Code; ignored by git and kept between runs. */
export const vscodeTestFolder = join(projectFolder, ".vscode-test");

/** Logs, counts and pictures of failures of the last test runs; ignored by git. */
export const resultsFolder = join(projectFolder, "test-results");

/** Folder for pictures of the panel; undefined in runs that take none. `npm run screenshots` sets it. */
export const picturesFolder = process.env["HERMES_SCREENSHOTS"];

/** The packaged extension that `npm run package` makes. */
export const packageFile = join(projectFolder, "dist", "hermes-vscode.vsix");

/** The panel's bundle that `npm run build` makes. */
export const webviewFolder = join(projectFolder, "dist", "webview");
