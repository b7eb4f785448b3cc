/** Ending a command with everything it started, children that left its group included. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** What a process may take to end by itself before it is killed. */
const TERM_GRACE_MS = 1_500;
const POLL_MS = 25;

/** Environment variable that marks a command and all it starts. */
export const MARKER_VARIABLE = "HERMES_TERMINAL_ID";

export async function killTree(pid: number, marker: string): Promise<void> {
  if (process.platform === "win32") {
    await new Promise<void>((resolve) => execFile("taskkill", ["/PID", String(pid), "/T", "/F"], () => resolve()));
    return;
  }
  const deadline = performance.now() + TERM_GRACE_MS;
  for (let signal: NodeJS.Signals = "SIGTERM"; ; signal = performance.now() < deadline ? "SIGTERM" : "SIGKILL") {
    const members = await livingMembers(pid, marker);
    if (members.length === 0) return;
    for (const member of [-pid, ...members]) send(member, signal);
    await delay(POLL_MS);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already, which is what was wanted.
  }
}

/** The process itself and whoever carries the marker; elsewhere than on Linux the group stands for all. */
async function livingMembers(pid: number, marker: string): Promise<readonly number[]> {
  if (process.platform !== "linux") return isAlive(-pid) ? [pid] : [];
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const marked = await Promise.all(names.map(async (name) => ((await isMember(name, marker)) ? Number(name) : 0)));
  return marked.filter((member) => member !== 0);
}

async function isMember(name: string, marker: string): Promise<boolean> {
  const environment = await readFile(`/proc/${name}/environ`, "latin1").catch(() => "");
  return environment.includes(`${MARKER_VARIABLE}=${marker}`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // no such process
  }
}
