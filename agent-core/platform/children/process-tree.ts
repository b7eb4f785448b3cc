/** Finds and ends a command's processes, also children that left its group or that init adopted. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Deadline } from "../deadline.ts";
import { attempt } from "../errors.ts";

/** Time for a process to end by itself before it is killed. A cancelled turn leaves none alive after 2 s. */
const TERM_GRACE_MS = 1_000;
const POLL_MS = 20;
/** Limit of ending a tree. Another user's process, or one stuck in the kernel, survives. */
const GIVE_UP_MS = 4_000;
/** Unit of processor time on Linux: 100 ticks a second on every architecture. */
const TICK_MS = 10;

/** Environment variable that marks a command and all its processes. */
export const MARKER_VARIABLE = "HERMES_TERMINAL_ID";

const run = promisify(execFile);

/** Processes of a command: the first one, and the mark in the environment of all. */
export type ProcessTree = { readonly pid: number; readonly marker: string };

/** A living process. */
export type Member = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Processor time so far in milliseconds; 0 where the system hides it. */
  readonly busyMs: number;
  /** Start of the process, in the system's own unit; 0 where the system hides it. A later process may have the same id. */
  readonly startedAt: number;
};

/** Ends the tree; resolves when no process is left that we can end. */
export async function killTree(tree: ProcessTree): Promise<void> {
  if (process.platform === "win32") {
    await run("taskkill", ["/PID", String(tree.pid), "/T", "/F"]).catch(() => undefined); // the process has ended already
    return;
  }
  const [deadline, grace] = [new Deadline(GIVE_UP_MS), new Deadline(TERM_GRACE_MS)];
  await signalTree(tree, "SIGTERM");
  while (!deadline.hasPassed()) {
    if ((await livingMembers(tree)).length === 0) return;
    if (grace.hasPassed()) await signalTree(tree, "SIGKILL");
    await delay(POLL_MS);
  }
}

/** Interrupts the command's process group, as Ctrl+C does in a terminal. */
export function interruptGroup({ pid }: ProcessTree): void {
  send(process.platform === "win32" ? pid : -pid, "SIGINT");
}

/** True while a process of the group lives; on Windows, while the process itself does. Reading marks takes far longer. */
export function isGroupAlive(group: number): boolean {
  return attempt(() => process.kill(process.platform === "win32" ? group : -group, 0)) ?? false;
}

/** Living processes of the tree: relatives, and all processes with the mark. */
export async function livingMembers(tree: ProcessTree): Promise<readonly Member[]> {
  if (process.platform === "win32") return [];
  const all = await processes();
  const found = relativesAmong(all, [tree.pid]);
  const strangers = all.filter((member) => !found.has(member.pid));
  const marks = await marksOf(strangers);
  const marked = strangers.filter((_, index) => marks[index] === tree.marker).map(({ pid }) => pid);
  return [...found.values(), ...relativesAmong(all, marked).values()];
}

/** Living processes of the tree by descent, group and session, without the cost of reading marks. */
export async function livingRelatives({ pid }: ProcessTree): Promise<readonly Member[]> {
  return process.platform === "win32" ? [] : [...relativesAmong(await processes(), [pid]).values()];
}

/** State of a listening socket in `/proc/net/tcp`, whose fields are: number, local address and port, other one, state … inode. */
const LISTENS = "0A";

/** TCP ports on which these processes listen. Empty on systems without `/proc`. */
export async function listeningPorts(pids: readonly number[]): Promise<ReadonlySet<number>> {
  if (process.platform !== "linux" || pids.length === 0) return new Set();
  const names = await Promise.all(
    pids.map(async (pid) => {
      const folder = `/proc/${pid}/fd`;
      const open = await readdir(folder).catch(() => []); // the process has ended
      return Promise.all(open.map((name) => readlink(`${folder}/${name}`).catch(() => "")));
    }),
  );
  const own = new Set(names.flat());
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  const sockets = tables.flatMap((table) => table.split("\n").map((line) => line.trim().split(/\s+/)));
  return new Set(
    sockets
      .filter(({ 3: state, 9: inode }) => state === LISTENS && own.has(`socket:[${inode}]`))
      .map(([, address = ""]) => Number.parseInt(address.slice(address.lastIndexOf(":") + 1), 16)),
  );
}

function relativesAmong(all: readonly Member[], pids: readonly number[]): ReadonlyMap<number, Member> {
  const found = new Map<number, Member>();
  const include = (member: Member): void => {
    if (found.has(member.pid)) return;
    found.set(member.pid, member);
    for (const child of all) if (child.parent === member.pid) include(child);
  };
  const roots = new Set(pids);
  for (const member of all) if ([member.pid, member.group, member.session].some((id) => roots.has(id))) include(member);
  return found;
}

async function signalTree(tree: ProcessTree, signal: NodeJS.Signals): Promise<void> {
  // The group in one call: a shell that sees its program die first goes on to its next command.
  send(-tree.pid, signal);
  for (const { pid, group } of await livingMembers(tree)) if (group !== tree.pid) send(pid, signal);
}

/** Signals a process that was listed earlier, unless another one has its id now. */
export function signalMember({ pid, startedAt }: Member, signal: NodeJS.Signals): void {
  if (process.platform !== "linux" || readMember(String(pid))?.startedAt === startedAt) send(pid, signal);
}

function send(pid: number, signal: NodeJS.Signals): void {
  attempt(() => process.kill(pid, signal)); // the process may have ended already
}

async function processes(): Promise<readonly Member[]> {
  if (process.platform !== "linux") return processesByPs();
  const names = await readdir("/proc");
  return names.filter((name) => /^\d+$/.test(name)).flatMap((name) => readMember(name) ?? []);
}

function readMember(name: string): Member | undefined {
  const numbers = statNumbers(name);
  if (numbers.length === 0) return undefined;
  const [parent = 0, group = 0, session = 0] = numbers;
  const ticks = Number(numbers[10]) + Number(numbers[11]);
  return { pid: Number(name), parent, group, session, busyMs: ticks * TICK_MS, startedAt: numbers[18] ?? 0 };
}

/**
 * Fields of /proc's `stat` from the parent's id on; empty for a dead process, and on systems without /proc. The kernel
 * answers without waiting, and a read through the thread pool takes ten times the processor time.
 */
function statNumbers(name: string): readonly number[] {
  const line = statLine(name);
  // The command's name is in parentheses and may contain any character: the fields follow the last parenthesis.
  const [state, ...numbers] = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? [] : numbers.map(Number);
}

function statLine(name: string): string {
  return attempt(() => readFileSync(`/proc/${name}/stat`, "utf8")) ?? ""; // the process has ended
}

/** Marks of the living processes at the last look, by id and start. A process has its mark from its start, or never. */
let knownMarks: ReadonlyMap<string, string> = new Map();

/** Mark of each process; undefined where the system hides it, and until a new process has its environment. */
async function marksOf(members: readonly Member[]): Promise<readonly (string | undefined)[]> {
  if (process.platform !== "linux") return [];
  const known = knownMarks;
  const keyOf = ({ pid, startedAt }: Member): string => `${pid} ${startedAt}`;
  const marks = await Promise.all(members.map((member) => known.get(keyOf(member)) ?? readMark(member)));
  knownMarks = new Map(
    members.flatMap((member, index) => {
      const mark = marks[index];
      return mark === undefined ? [] : [[keyOf(member), mark] as const];
    }),
  );
  return marks;
}

/** Empty for a process without a mark. */
async function readMark({ pid }: Member): Promise<string | undefined> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  if (environment === "") return undefined;
  return new RegExp(`(?:^|\\0)${MARKER_VARIABLE}=([^\\0]*)`).exec(environment)?.[1] ?? "";
}

async function processesByPs(): Promise<readonly Member[]> {
  const { stdout } = await run("ps", ["-axo", "pid=,ppid=,pgid=,stat="]);
  return stdout.split("\n").flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (pid === undefined || pid === "" || state?.startsWith("Z")) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, busyMs: 0, startedAt: 0 }];
  });
}
