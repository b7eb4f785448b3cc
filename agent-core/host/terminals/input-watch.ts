/** Detects that a command waits for input; needs Linux and a child process of ours. */
import { readdir, readFile, readlink } from "node:fs/promises";
import { livingRelatives, type Member, type ProcessTree } from "../../platform/children/process-tree.ts";

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
    const readers = waiting.filter((pid) => pid !== false).join(" ");
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

/** True when an event loop of the process polls descriptor 0. */
async function isPolled(pid: number): Promise<boolean> {
  const folder = `/proc/${pid}/fdinfo`;
  const names = await readdir(folder).catch(() => []);
  const infos = await Promise.all(names.map((name) => readFile(`${folder}/${name}`, "utf8").catch(() => "")));
  return infos.some((info) => /^tfd:\s+0 /m.test(info));
}
