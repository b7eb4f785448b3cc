/** Whether a process lives, and which one it is: a number that was given back may be another program's by now. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hasCode } from "../errors.ts";

/** `birth` tells it from every other process that ever had its number; undefined where the system does not say. */
export type ProcessIdentity = { readonly birth: string | undefined };

/** Of `/proc/<pid>/stat`, counted behind the program's name, which may have blanks and parentheses itself. */
const STATE_FIELD = 0;
const START_FIELD = 19;

let own: ProcessIdentity | undefined;

/** Undefined: there is no such process, or it has died and only its number is left. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  if (pid !== process.pid) return isThere(pid) ? lookAt(pid) : undefined;
  own ??= lookAt(pid) ?? { birth: undefined };
  return own;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

function lookAt(pid: number): ProcessIdentity | undefined {
  try {
    if (process.platform === "linux") return fromProc(pid);
    if (process.platform === "win32") return { birth: undefined };
    return fromPs(pid);
  } catch {
    return { birth: undefined }; // it may not be looked at: it lives, and that is all there is to know
  }
}

function fromProc(pid: number): ProcessIdentity | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (isDead(fields[STATE_FIELD])) return undefined;
  // Ticks since the machine was started: of this start only.
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  return { birth: `${boot} ${fields[START_FIELD]}` };
}

function fromPs(pid: number): ProcessIdentity | undefined {
  const options = { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } } as const;
  const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], options).trim();
  const [, state, birth] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
  return isDead(state) ? undefined : { birth };
}

/** A zombie has ended and waits for its parent to ask how. */
function isDead(state: string | undefined): boolean {
  return state === undefined || /^[ZX]/.test(state);
}
