// Installs VS Code's server and web workbench into .vscode-test, once, from the npm package code-server.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { acquireLock, type FileLock } from "../agent-core/platform/locks/file-lock.ts";
import { vscodeTestFolder } from "./project.ts";
import { runLogged } from "./run-program.ts";
import { findOnPath, installPackages } from "./system-programs.ts";

/** Interval of the attempts to lock while another process installs. */
const POLL_MS = 500;

/** Version of the npm package; 4.139.1 is VS Code 1.139.1. */
const VERSION = "4.139.1";

/** Modules of the server that its package contains as C++ sources. */
const nativeModules = ["node-pty", "@vscode/spdlog", "@parcel/watcher", "@vscode/native-watchdog"];

const target = join(vscodeTestFolder, `code-server-${VERSION}`);
const partial = `${target}.partial`;
const partialServer = join(partial, "package", "lib", "vscode");
const logFile = join(vscodeTestFolder, "install.log");

type Step = { readonly name: string; readonly run: () => Promise<unknown> };

/** Steps in order. After an interruption, finished steps are not repeated. */
const steps: readonly Step[] = [
  { name: "download", run: download },
  { name: "unpack", run: unpack },
  { name: "dependencies", run: () => npm(["install", "--omit=dev", "--ignore-scripts"], partialServer) },
  { name: "native-modules", run: buildNativeModules },
];

/**
 * Resolves with the folder of VS Code's server, which contains `out/server-main.js`. Installs it first if it is
 * missing, in half a minute to two. Resumes an interrupted installation; a second process waits for the first.
 * @throws when a step fails; the message says which program failed and how it ended.
 */
export async function ensureVSCodeServer(): Promise<string> {
  const folder = join(target, "lib", "vscode");
  if (existsSync(target)) return folder;
  mkdirSync(vscodeTestFolder, { recursive: true });
  const lock = await lockInstallation();
  try {
    if (!existsSync(target)) await install();
  } finally {
    lock.release();
  }
  return folder;
}

async function lockInstallation(): Promise<FileLock> {
  const path = `${target}.lock`;
  let lock = acquireLock(path);
  if ("pid" in lock) console.log(`Waiting for process ${lock.pid}, which is installing VS Code's server …`);
  while ("pid" in lock) {
    await delay(POLL_MS);
    lock = acquireLock(path);
  }
  return lock;
}

async function install(): Promise<void> {
  const started = Date.now();
  console.log(`Installing VS Code's server (code-server ${VERSION}) into .vscode-test, once; half a minute to two.`);
  mkdirSync(partial, { recursive: true });
  for (const step of steps) await runStep(step);
  renameSync(join(partial, "package"), target);
  rmSync(partial, { recursive: true });
  console.log(`VS Code's server is installed (${seconds(started)}).`);
}

async function runStep({ name, run }: Step): Promise<void> {
  const marker = join(partial, `${name}.done`);
  if (existsSync(marker)) return;
  const started = Date.now();
  process.stdout.write(`  ${name} … `);
  try {
    await run();
  } catch (error) {
    process.stdout.write("failed\n");
    throw new Error(`VS Code's server could not be installed (step: ${name}). Run the same command to try again.`, {
      cause: error,
    });
  }
  writeFileSync(marker, "");
  process.stdout.write(`${seconds(started)}\n`);
}

function download(): Promise<unknown> {
  return npm(["pack", `code-server@${VERSION}`, "--pack-destination", partial], partial);
}

async function unpack(): Promise<void> {
  const archive = join(partial, `code-server-${VERSION}.tgz`);
  await runLogged({ command: "tar", args: ["-xzf", archive, "-C", partial] }, logFile);
  rmSync(archive);
}

async function buildNativeModules(): Promise<void> {
  if (["g++", "make", "python3"].some((program) => findOnPath(program) === undefined)) {
    await installPackages(["g++", "make", "python3"], "a compiler for VS Code's native modules");
  }
  await npm(["rebuild", ...nativeModules], partialServer);
  const load = `for (const name of ${JSON.stringify(nativeModules)}) require(name)`;
  await runLogged({ command: process.execPath, args: ["-e", load], cwd: partialServer }, logFile);
}

/** npm runs on the Node of this script, not on the first one on the PATH. */
function npm(args: readonly string[], cwd: string): Promise<string> {
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  return runLogged({ command: "npm", args, cwd, env: { PATH: path, ...nodeHeaders() } }, logFile);
}

/**
 * Headers of an installed Node spare node-gyp a download. They also fit the Node in use, because the native modules
 * are N-API modules.
 */
function nodeHeaders(): Record<string, string> {
  if (process.env["npm_config_nodedir"] !== undefined) return {};
  const prefixes = (process.env["PATH"] ?? "").split(delimiter).map(dirname);
  const prefix = prefixes.find((folder) => existsSync(join(folder, "include", "node", "node_api.h")));
  return prefix === undefined ? {} : { npm_config_nodedir: prefix };
}

function seconds(started: number): string {
  return `${((Date.now() - started) / 1000).toFixed(1)} s`;
}
