/** Ending a command with everything it started, children that left its group or were adopted by init included. */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

/** What a process may take to end by itself before it is killed. */
const TERM_GRACE_MS = 1_500;
const POLL_MS = 20;

/** Environment variable that marks a command and all it starts. */
export const MARKER_VARIABLE = "HERMES_TERMINAL_ID";

const run = promisify(execFile);

type Member = { readonly pid: number; readonly parent: number };

/** Ends the tree of `pid`; resolves when nothing of it is left. `marker` is the value of its MARKER_VARIABLE. */
export async function killTree(pid: number, marker: string): Promise<void> {
  if (process.platform === "win32") {
    await run("taskkill", ["/PID", String(pid), "/T", "/F"]).catch(() => undefined); // gone already
    return;
  }
  const deadline = performance.now() + TERM_GRACE_MS;
  await signalTree(pid, marker, "SIGTERM");
  while (performance.now() < deadline) {
    if ((await membersOf(pid, marker)).length === 0) return;
    await delay(POLL_MS);
  }
  while ((await membersOf(pid, marker)).length > 0) {
    await signalTree(pid, marker, "SIGKILL");
    await delay(POLL_MS);
  }
}

async function signalTree(pid: number, marker: string, signal: NodeJS.Signals): Promise<void> {
  for (const member of await membersOf(pid, marker)) send(member, signal);
  send(-pid, signal); // the group as a whole, for a child born between the look and now
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already, which is what was wanted.
  }
}

/** Living processes of the tree: descendants by parent, and whoever carries the marker. */
async function membersOf(pid: number, marker: string): Promise<readonly number[]> {
  const all = await processes();
  const found = new Set<number>();
  const queue = [pid];
  for (let current = queue.pop(); current !== undefined; current = queue.pop()) {
    if (all.some((member) => member.pid === current)) found.add(current);
    for (const { pid: child, parent } of all) if (parent === current && !found.has(child)) queue.push(child);
  }
  const strangers = all.filter((member) => !found.has(member.pid));
  const marked = await Promise.all(
    strangers.map(async ({ pid: other }) => ((await isMarked(other, marker)) ? other : 0)),
  );
  return [...found, ...marked.filter((other) => other !== 0)];
}

async function processes(): Promise<readonly Member[]> {
  if (process.platform !== "linux") return processesByPs();
  const names = await readdir("/proc");
  const members = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(readMember));
  return members.filter((member) => member !== undefined);
}

async function readMember(name: string): Promise<Member | undefined> {
  const line = await readFile(`/proc/${name}/stat`, "utf8").catch(() => undefined);
  if (line === undefined) return undefined;
  // The command's name stands in parentheses and may hold any character, so fields count from the last one.
  const [state, parent] = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : { pid: Number(name), parent: Number(parent) };
}

async function isMarked(pid: number, marker: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.includes(`${MARKER_VARIABLE}=${marker}`);
}

async function processesByPs(): Promise<readonly Member[]> {
  const { stdout } = await run("ps", ["-axo", "pid=,ppid=,stat="]);
  return stdout
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, , state]) => pid !== "" && pid !== undefined && !state?.startsWith("Z"))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}
