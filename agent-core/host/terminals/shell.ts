/** Which shell runs a command line on this machine. */
import { existsSync } from "node:fs";

export type Shell = { readonly kind: "bash" | "sh" | "powershell"; readonly path: string };

const BASHES = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/** bash, else sh; PowerShell on Windows. */
export function findShell(): Shell {
  if (process.platform === "win32") return { kind: "powershell", path: "powershell.exe" };
  const bash = BASHES.find((path) => existsSync(path));
  return bash === undefined ? { kind: "sh", path: "/bin/sh" } : { kind: "bash", path: bash };
}
