// Programs of the system, and their installation on Debian and Ubuntu.
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { vscodeTestFolder } from "./project.ts";
import { runQuietly } from "./run-program.ts";

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
  const aptGet = (args: readonly string[]) => runQuietly({ command: "apt-get", args, env: aptEnvironment }, logFile);
  await aptGet(["update"]);
  await aptGet(["install", ...aptOptions, ...packages]);
}
