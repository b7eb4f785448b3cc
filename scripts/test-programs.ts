// Programs that the tests of the core run as they are: a server to reach over ssh, shells that users have, a
// sandbox, an engine for containers and what stands in one.
import { delimiter } from "node:path";
import { findOnPath, installPackages } from "./system-packages.ts";

/** Where Debian keeps daemons; not on every user's PATH. */
const DAEMONS = "/usr/sbin";

const packages: Readonly<Record<string, string>> = {
  sshd: "openssh-server",
  fish: "fish",
  zsh: "zsh",
  bwrap: "bubblewrap",
  dockerd: "docker.io",
  docker: "docker.io",
  busybox: "busybox-static",
  rg: "ripgrep",
};

/** Installs what is missing. @throws when it cannot be installed here; the message names what to install by hand. */
export async function ensureTestPrograms(): Promise<void> {
  process.env["PATH"] = `${process.env["PATH"] ?? ""}${delimiter}${DAEMONS}`;
  const missing = Object.keys(packages).filter((program) => findOnPath(program) === undefined);
  if (missing.length === 0) return;
  await installPackages(
    [...new Set(missing.map((program) => packages[program] ?? program))],
    "programs for the tests of terminals",
  );
}
