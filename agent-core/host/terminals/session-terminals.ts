/** Terminals of one session: a backend plans each command, a runner starts it. */
import { execFile } from "node:child_process";
import { readdir, readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";
import {
  listeningPorts,
  livingMembers,
  livingRelatives,
  type Member,
  type ProcessTree,
} from "../../platform/children/process-tree.ts";
import type { Backend, Plan, Runner, Started } from "./backend.ts";
import { childRunner } from "./child-runner.ts";
import type { CommandExit, CommandRequest, HostTerminals, RunningCommand } from "./terminals.ts";

/** Exit code of `ssh` when the connection failed. */
const CONNECTION_LOST = 255;

export function sessionTerminals(backend: Backend, runner: Runner): HostTerminals {
  const held = new Set<RunningCommand>();
  return {
    place: backend.place,
    language: backend.language,
    get sandboxes() {
      return backend.sandboxes === true;
    },
    get sandboxState() {
      return backend.sandboxState;
    },
    sandboxProblem: async () => backend.sandboxProblem?.(),
    temporaryFolder: () => backend.temporaryFolder?.(),
    inspectLiving: async () => (await backend.inspectLiving?.()) ?? [],
    endTurn: async () => (await backend.endTurn?.()) ?? [],
    confine: async (start) => backend.confine?.(start),
    async ownPorts() {
      const members = await Promise.all([...held].map((command) => command.members()));
      return listeningPorts(members.flat());
    },
    seesWaiting: seesWaiting && backend.place === undefined,
    open: (cwd, signal) => backend.open(cwd, signal),
    async start(request, signal) {
      const chosen = request.scriptFolder === undefined ? runner : childRunner();
      const command = await startCommand(backend, chosen, request, signal);
      held.add(command);
      return {
        ...command,
        async release() {
          held.delete(command);
          await command.release();
        },
      };
    },
    async dispose() {
      await Promise.allSettled([...held].map((command) => command.kill()));
      await Promise.allSettled([...held].map((command) => command.release()));
      held.clear();
      await backend.dispose();
    },
  };
}

async function startCommand(
  backend: Backend,
  runner: Runner,
  request: CommandRequest,
  signal: AbortSignal,
): Promise<RunningCommand> {
  signal.throwIfAborted();
  if (request.sandbox !== undefined && !backend.sandboxes)
    throw new Error("No sandbox is available to run the command in.");
  const plan = await backend.plan(request, runner.givesPty, signal);
  const { killElsewhere, shellAfter, inspect, isCurrent } = plan;
  const started = await startPlanned(plan, runner, signal);
  const { terminalId, tree } = started;
  let [hasExited, isOver] = [false, false];
  const hasSurvivors = async (): Promise<boolean> => {
    if (isOver) return false;
    const isAlive = tree !== undefined && (await livingMembers(tree)).length > 0;
    if (hasExited && !isAlive) {
      isOver = true;
      await plan.ended?.();
    }
    return isAlive;
  };
  const inspected = started.exit.then(async () => {
    hasExited = true;
    await hasSurvivors();
    return [...((await inspect?.()) ?? [])];
  });
  inspected.catch(() => undefined); // `inspected` rejects for its caller
  // The command ends after the inspection, so that no caller uses its files earlier.
  const exit = inspect === undefined ? started.exit : inspected.then(() => started.exit);
  exit.catch(() => undefined);
  if (killElsewhere !== undefined) endWhenLost(exit, killElsewhere);
  const watch = tree && new InputWatch(tree);
  return {
    terminalId,
    exit,
    output: () => started.output(),
    read: (from, maxBytes) => started.read(from, maxBytes),
    write: (text) => started.write(text),
    hidesInput: async () => tree !== undefined && hidesInput(await livingRelatives(tree)),
    waitsForInput: async () => (await watch?.look()) ?? false,
    countProcesses: async () => (tree === undefined ? 0 : (await livingRelatives(tree)).length),
    hasSurvivors,
    members: async () => (tree === undefined ? [] : (await livingMembers(tree)).map(({ pid }) => pid)),
    isCurrent: async () => (await isCurrent?.()) ?? true,
    shellAfter: () => shellAfter(),
    inspected: async () => (await inspected).splice(0),
    async kill() {
      await Promise.all([killElsewhere?.(), started.kill()]);
    },
    async release() {
      await hasSurvivors();
      await started.release();
    },
  };
}

async function startPlanned({ launch, ended }: Plan, runner: Runner, signal: AbortSignal): Promise<Started> {
  try {
    signal.throwIfAborted();
    return await runner.start(launch, signal);
  } catch (error) {
    await ended?.();
    throw error;
  }
}

/** After a closed terminal or a lost connection, the command still runs on the other machine. */
function endWhenLost(exit: Promise<CommandExit>, killElsewhere: () => Promise<void>): void {
  const end = async (): Promise<void> => {
    const { exitCode, signal } = await exit;
    if (signal !== null || exitCode === CONNECTION_LOST) await killElsewhere();
  };
  end().catch(() => undefined); // the other machine is out of reach
}

/** True on systems that can answer. */
export const seesWaiting = process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64");

/** Processor time between two checks below which a command only waits. Milliseconds. */
const IDLE_MS = 30;

/** Numbers of the system calls that wait for input (Linux' syscall tables). */
const CALLS =
  process.arch === "arm64"
    ? { read: ["63", "65", "207"], epoll: ["22", "441"], select: ["72"] }
    : { read: ["0", "19", "45"], epoll: ["232", "281", "441"], select: ["23", "270"] };

export class InputWatch {
  readonly #tree: ProcessTree;
  #last: { readonly readers: string; readonly busyMs: number } | undefined;

  constructor(tree: ProcessTree) {
    this.#tree = tree;
  }

  /** True when the same processes waited for input at the last check, and were idle since. */
  async look(): Promise<boolean> {
    if (!seesWaiting) return false;
    const members = await livingRelatives(this.#tree);
    const terminal = await inputOf(this.#tree.pid);
    const waiting = await Promise.all(members.map(async (member) => (await isWaiting(member, terminal)) && member.pid));
    const readers = waiting.filter((pid) => pid !== false).join(" ") || ((await hidesInput(members)) ? "hidden" : "");
    const busyMs = members.reduce((sum, member) => sum + member.busyMs, 0);
    const last = this.#last;
    this.#last = { readers, busyMs };
    return readers !== "" && last?.readers === readers && Math.abs(busyMs - last.busyMs) <= IDLE_MS;
  }
}

/** Target of descriptor 0: `socket:[123]`, `/dev/pts/3`. */
function inputOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/fd/0`).catch(() => undefined);
}

/** True in a call that typing would end. Descriptor 0 must be the command's own, not a pipe between two programs. */
async function isWaiting({ pid }: Member, terminal: string | undefined): Promise<boolean> {
  const input = await inputOf(pid);
  if (input === undefined || (input !== terminal && !input.startsWith("/dev/pts/"))) return false;
  const line = await readFile(`/proc/${pid}/syscall`, "utf8").catch(() => "");
  const [call = "", first = ""] = line.split(" ");
  if (CALLS.read.includes(call)) return first === "0x0";
  if (CALLS.select.includes(call)) return first === "0x1"; // the call covers the descriptors below 1
  return CALLS.epoll.includes(call) && (await isPolled(pid));
}

/** Device numbers of pseudo-terminals (Linux, `Documentation/admin-guide/devices.txt`). */
const PTS_MAJOR = 136;

/** True when a terminal of the processes reads lines without an echo. Their calls say nothing: `su` belongs to root. */
async function hidesInput(members: readonly Member[]): Promise<boolean> {
  if (!seesWaiting) return false;
  const terminals = new Set(await Promise.all(members.map(({ pid }) => terminalOf(pid))));
  terminals.delete(undefined);
  const modes = [...terminals].map((path) => promisify(execFile)("stty", ["-a", "-F", String(path)]));
  const states = await Promise.all(modes.map((mode) => mode.then(({ stdout }) => stdout).catch(() => "")));
  return states.some((state) => /(?:^|\s)-echo\s/.test(state) && /(?:^|\s)icanon\s/.test(state));
}

/** Path of the pseudo-terminal that controls a process. */
async function terminalOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const device = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4] ?? 0);
  const minor = (device & 0xff) | ((device >> 12) & 0xfff00);
  return (device >> 8) % 0x1000 === PTS_MAJOR ? `/dev/pts/${minor}` : undefined;
}

/** True when an event loop of the process polls descriptor 0. */
async function isPolled(pid: number): Promise<boolean> {
  const folder = `/proc/${pid}/fdinfo`;
  const names = await readdir(folder).catch(() => []);
  const infos = await Promise.all(names.map((name) => readFile(`${folder}/${name}`, "utf8").catch(() => "")));
  return infos.some((info) => /^tfd:\s+0 /m.test(info));
}
