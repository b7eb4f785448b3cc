// npm start: opens VS Code with Hermes in a sample workspace. Uses the desktop's VS Code if there is one; otherwise it
// starts VS Code's server and prints its address. Options: --server (even where `code` is), --open (in a browser),
// --folder PATH (instead of the sample workspace), --port N.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageFile, projectFolder, vscodeTestFolder } from "./project.ts";
import { runInFile, runInTerminal } from "./run-program.ts";
import { chromiumArguments, findChromium, findOnPath } from "./system-programs.ts";
import { installExtension, startVSCodeServer } from "./vscode-server.ts";

/** A fixed range, because the browser stores a window's layout by address. */
const PORTS = "9137-9156";

const settings = {
  // Lets the workspace's task show the panel without a question.
  "task.allowAutomaticTasks": "on",
  // The sample workspace is inside a clone of this repository: a question about it would cover the panel.
  "git.openRepositoryInParentFolders": "never",
  // VS Code's server comes without a compiler: it would report an error for each script that is opened.
  "typescript.tsdk": join(projectFolder, "node_modules", "typescript", "lib"),
};

const { values: options } = parseArgs({
  options: {
    server: { type: "boolean", default: false },
    open: { type: "boolean", default: false },
    folder: { type: "string" },
    port: { type: "string", default: PORTS },
  },
});

const folder = options.folder === undefined ? sampleWorkspace() : resolve(options.folder);
const desktop = options.server ? undefined : findDesktop();
if (desktop === undefined) await startServer();
else await startDesktop(desktop);

/** Copies the workspace once. Changes to it survive until the next start. */
function sampleWorkspace(): string {
  const workspace = join(vscodeTestFolder, "sample-workspace");
  if (existsSync(workspace)) return workspace;
  mkdirSync(vscodeTestFolder, { recursive: true });
  cpSync(join(projectFolder, "test", "support", "sample-workspace"), workspace, { recursive: true });
  return workspace;
}

function findDesktop(): string | undefined {
  const hasDisplay = process.platform !== "linux" || hasX();
  return hasDisplay ? findOnPath(process.platform === "win32" ? "code.cmd" : "code") : undefined;
}

function hasX(): boolean {
  return Boolean(process.env["DISPLAY"] ?? process.env["WAYLAND_DISPLAY"]);
}

async function startDesktop(code: string): Promise<void> {
  const build = await runInTerminal({ command: process.execPath, args: ["esbuild.mjs"], cwd: projectFolder });
  if (build !== 0) throw new Error(`node esbuild.mjs exited with code ${build}.`);
  console.log("Opening VS Code. When it asks, trust the folder and allow its task: it shows the Hermes panel.");
  const args = [`--extensionDevelopmentPath=${projectFolder}`, "--new-window", "--wait", folder];
  process.exitCode = await runInTerminal({ command: code, args });
}

async function startServer(): Promise<void> {
  await packageExtension();
  const folders = {
    userDataFolder: join(vscodeTestFolder, "user-data"),
    extensionsFolder: join(vscodeTestFolder, "extensions"),
  };
  await installExtension(packageFile, folders);
  const server = await startVSCodeServer({ ...folders, settings, port: options.port });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void server.stop());
  const address = server.windowUrl(folder);
  console.log(`\nVS Code with Hermes is ready: ${address}`);
  console.log("Type into the Hermes panel, for instance: replace two with TWO in a.txt then run cat a.txt");
  console.log("Ctrl+C ends it.\n");
  if (options.open || hasX()) openInBrowser(address);
  await server.ended;
}

/** Packs the extension. The packer's own output, which is for publishers, is shown only when it fails. */
async function packageExtension(): Promise<void> {
  mkdirSync(vscodeTestFolder, { recursive: true });
  process.stdout.write("Packaging Hermes … ");
  const log = join(vscodeTestFolder, "package.log");
  const args = [join(projectFolder, "scripts", "package.ts"), "--extension"];
  const code = await runInFile({ command: process.execPath, args, cwd: projectFolder }, log);
  if (code !== 0) throw new Error(`packaging exited with code ${code}:\n${readFileSync(log, "utf8")}`);
  console.log(`${relative(projectFolder, packageFile)}, ${(statSync(packageFile).size / 1e6).toFixed(1)} MB.`);
}

function openInBrowser(address: string): void {
  const opener = process.platform === "darwin" ? "open" : findOnPath("xdg-open");
  const browser = findChromium();
  if (opener === undefined && browser === undefined) {
    console.log("There is no browser here: open the address by hand.");
    return;
  }
  const [command, args] =
    opener === undefined ? [String(browser), [...chromiumArguments, address]] : [opener, [address]];
  spawn(command, args, { stdio: "ignore" }).once("error", (error) => {
    console.log(`${command} did not start (${error.message}): open the address by hand.`);
  });
}
