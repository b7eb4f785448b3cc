/** Identity of a living process: systems give the id of a dead process to another one. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hasCode } from "../errors.ts";

/** `startTime` differs for every process that had the same id; undefined where the system hides it. */
export type ProcessIdentity = { readonly startTime: string | undefined };

/** Fields of `/proc/<pid>/stat`, counted after the program's name, which may contain blanks and parentheses. */
const STATE_FIELD = 0;
const START_FIELD = 19;

let own: ProcessIdentity | undefined;

/** Undefined for a process that does not exist, or that has died and waits for its parent. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  if (pid !== process.pid) return exists(pid) ? read(pid) : undefined;
  own ??= read(pid) ?? { startTime: undefined };
  return own;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

function read(pid: number): ProcessIdentity | undefined {
  try {
    if (process.platform === "linux") return fromProc(pid);
    if (process.platform === "win32") return { startTime: undefined };
    return fromPs(pid);
  } catch {
    return { startTime: undefined }; // the process is alive, but we may not read it
  }
}

function fromProc(pid: number): ProcessIdentity | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (isDead(fields[STATE_FIELD])) return undefined;
  // Ticks since the boot, which the boot's own id makes unique.
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  return { startTime: `${boot} ${fields[START_FIELD]}` };
}

function fromPs(pid: number): ProcessIdentity | undefined {
  const options = { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } } as const;
  const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], options).trim();
  const [, state, startTime] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
  return isDead(state) ? undefined : { startTime };
}

/** A zombie has ended and waits for its parent to read its exit code. */
function isDead(state: string | undefined): boolean {
  return state === undefined || /^[ZX]/.test(state);
}
