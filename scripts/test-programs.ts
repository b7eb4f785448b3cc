// Optional programs that tests run: an ssh server, shells, a sandbox, a container engine. npm test installs the missing
// ones. Tests of one that cannot be installed are skipped (test/support/programs.ts); in CI they fail.
import { delimiter } from "node:path";
import { findOnPath, installPackages } from "./system-packages.ts";

/** Folder of daemons on Debian; not on every user's PATH. */
const DAEMONS = "/usr/sbin";

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
} as const;

export type TestProgram = keyof typeof packages;

export const isCI = !["", "0", "false"].includes(process.env["CI"] ?? "");

/** Adds the daemons' folder to this process's PATH. */
export function addDaemonsToPath(): void {
  const path = process.env["PATH"] ?? "";
  if (!path.split(delimiter).includes(DAEMONS)) process.env["PATH"] = `${path}${delimiter}${DAEMONS}`;
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
  try {
    await installPackages([...new Set(missing)], "programs for the tests of terminals");
  } catch (error) {
    if (isCI) throw error;
    console.log(error instanceof Error ? error.message : String(error));
  }
  reportMissingPrograms();
}
