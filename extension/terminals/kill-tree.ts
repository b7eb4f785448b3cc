/** Ending a command with everything it started, children that left its group included. */
import { type ChildProcess, execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** What a process may take to end by itself before it is killed. */
const TERM_GRACE_MS = 1_000;
const POLL_MS = 25;
/** What still lives then cannot be ended by us: another user's process, or one that is stuck in the kernel. */
const GIVE_UP_MS = 4_000;

/** Environment variable that marks a command and all it starts. */
export const MARKER_VARIABLE = "HERMES_TERMINAL_ID";

/** Resolves when nothing of the tree is left that we can end. */
export async function killTree(pid: number, marker: string): Promise<void> {
  if (process.platform === "win32") {
    await new Promise<void>((resolve) => execFile("taskkill", ["/PID", String(pid), "/T", "/F"], () => resolve()));
    return;
  }
  const begin = performance.now();
  const waited = (): number => performance.now() - begin;
  let signal: NodeJS.Signals | undefined = "SIGTERM";
  while (waited() < GIVE_UP_MS) {
    const members = await livingMembers(pid, marker);
    if (members.length === 0) return;
    if (signal !== undefined) for (const member of [-pid, ...members]) send(member, signal);
    signal = waited() < TERM_GRACE_MS ? undefined : "SIGKILL";
    await delay(POLL_MS);
  }
}

/** What Ctrl+C does in a terminal: every process of the command's own group is interrupted. */
export function interruptGroup(child: ChildProcess): void {
  if (process.platform === "win32" || child.pid === undefined) child.kill("SIGINT");
  else send(-child.pid, "SIGINT");
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already, which is what was wanted.
  }
}

/** The process's group and session, and whoever carries the marker; elsewhere than on Linux the group stands for all. */
async function livingMembers(pid: number, marker: string): Promise<readonly number[]> {
  if (process.platform !== "linux") return isAlive(-pid) ? [pid] : [];
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const members = await Promise.all(
    names.map(async (name) => ((await isMember(name, pid, marker)) ? Number(name) : 0)),
  );
  return members.filter((member) => member !== 0);
}

async function isMember(name: string, pid: number, marker: string): Promise<boolean> {
  const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
  // The command's name stands in parentheses and may hold any character, so fields count from the last one.
  const [state, , group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === undefined || state === "" || state === "Z" || state === "X") return false;
  if (Number(group) === pid || Number(session) === pid) return true;
  const environment = await readFile(`/proc/${name}/environ`, "latin1").catch(() => "");
  return environment.includes(`${MARKER_VARIABLE}=${marker}\0`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // no such process
  }
}
