/** Which shell runs a command line. */
import { existsSync } from "node:fs";

export type ShellCommand = { readonly command: string; readonly args: string[] };

const POSIX_SHELLS = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/** Program and arguments that run `line`: bash, else sh; PowerShell on Windows. */
export function shellCommand(line: string): ShellCommand {
  if (process.platform === "win32") {
    return { command: "powershell.exe", args: ["-NoProfile", "-NonInteractive", "-Command", line] };
  }
  return { command: POSIX_SHELLS.find((shell) => existsSync(shell)) ?? "/bin/sh", args: ["-c", line] };
}
