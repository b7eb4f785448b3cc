// Programs of the system that the scripts and tests need, and their installation on Debian and Ubuntu.
import { accessSync, constants, globSync, mkdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { messageOf } from "../agent-core/platform/errors.ts";
import { vscodeTestFolder } from "./project.ts";
import { runLogged } from "./run-program.ts";

/** Folders of daemons on Debian; not on every user's PATH. */
const DAEMONS = ["/usr/sbin", "/usr/lib/postgresql/*/bin"];

/** Program → Debian package. */
const packages = {
  sshd: "openssh-server",
  fish: "fish",
  zsh: "zsh",
  bwrap: "bubblewrap",
  dockerd: "docker.io",
  docker: "docker.io",
  busybox: "busybox-static",
  python3: "python3",
  "redis-server": "redis-server",
  postgres: "postgresql",
} as const;

export type TestProgram = keyof typeof packages;

export const isCI = !["", "0", "false"].includes(process.env["CI"] ?? "");

/** Adds the daemons' folders to this process's PATH. */
export function addDaemonsToPath(): void {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  process.env["PATH"] = [...new Set([...folders, ...globSync(DAEMONS)])].join(delimiter);
}

export function missingTestPrograms(): readonly TestProgram[] {
  return (Object.keys(packages) as TestProgram[]).filter((program) => findOnPath(program) === undefined);
}

/** Prints one line for each missing program. */
export function reportMissingPrograms(): void {
  for (const program of missingTestPrograms()) {
    console.log(`Skipping the tests that need ${program}: it is not installed.`);
  }
}

/**
 * Installs the missing programs; those that cannot be installed are printed.
 * @throws in CI when one cannot be installed; the message names the packages.
 */
export async function ensureTestPrograms(): Promise<void> {
  addDaemonsToPath();
  const missing = missingTestPrograms().map((program) => packages[program]);
  if (missing.length === 0) return;
  await tryToInstall(() => installPackages([...new Set(missing)], "programs for the tests of terminals"));
  reportMissingPrograms();
}

/** Installs something without which tests are skipped. Prints the reason of a failure; rejects with it in CI. */
export async function tryToInstall(install: () => Promise<unknown>): Promise<void> {
  try {
    await install();
  } catch (error) {
    if (isCI) throw error;
    console.log(messageOf(error));
  }
}

const aptEnvironment = { DEBIAN_FRONTEND: "noninteractive" };
const aptOptions = ["-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];

/** Absolute path of `program` when it is on the PATH. */
export function findOnPath(program: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

/** True if `path` is a file that this process may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Installs Debian packages with apt-get.
 * @throws when apt-get is missing, this is not root, or apt-get fails; the message names what to install by hand.
 */
export async function installPackages(packages: readonly string[], purpose: string): Promise<void> {
  const byHand = `install ${packages.join(", ")} with your system's package manager, then try again`;
  if (findOnPath("apt-get") === undefined) throw new Error(`${purpose} is missing and there is no apt-get: ${byHand}.`);
  if (process.getuid?.() !== 0) throw new Error(`${purpose} is missing and only root may install it: ${byHand}.`);
  mkdirSync(vscodeTestFolder, { recursive: true });
  const logFile = join(vscodeTestFolder, "apt-get.log");
  console.log(`Installing ${packages.join(", ")} with apt-get (${purpose}) …`);
  const aptGet = (args: readonly string[]) => runLogged({ command: "apt-get", args, env: aptEnvironment }, logFile);
  await aptGet(["update"]);
  await aptGet(["install", ...aptOptions, ...packages]);
}

const programs = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const applications = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** Chromium without its recommended packages has no font and shows boxes for letters. */
const debianPackages = ["chromium", "fonts-dejavu-core", "fonts-liberation"];

/** Arguments for a browser that reaches only this machine. `--no-sandbox`, because root may run it. */
export const chromiumArguments: readonly string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Path of Chrome or Chromium: `CHROME_PATH`, or else one on the PATH, or else a macOS application. */
export function findChromium(): string | undefined {
  const chosen = process.env["CHROME_PATH"];
  if (chosen !== undefined && chosen !== "") return chosen;
  for (const program of programs) {
    const path = findOnPath(program);
    if (path !== undefined) return path;
  }
  return applications.find(isExecutable);
}

/**
 * Path of Chrome or Chromium; installs Debian's packages when there is none.
 * @throws when it is missing and cannot be installed here.
 */
export async function ensureChromium(): Promise<string> {
  const present = findChromium();
  if (present !== undefined) return present;
  await installPackages(debianPackages, "a browser for VS Code");
  const installed = findChromium();
  if (installed === undefined) {
    throw new Error("apt-get installed chromium, but no chromium is on the PATH. Set CHROME_PATH to the browser.");
  }
  return installed;
}
