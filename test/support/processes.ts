/** Processes of this machine, read from /proc. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 20;

/** Ids of the processes whose command line `isWanted` accepts. */
export function processesWith(isWanted: (words: readonly string[]) => boolean): readonly number[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => isWanted(commandLine(id))).map(Number);
}

/**
 * Ids of the processes with `number` in their command line. A test puts the id of its process into the number: another
 * run on this machine has the same tests.
 */
export function processesNaming(number: number): readonly number[] {
  return processesWith((words) => words.some((word) => word.includes(String(number))));
}

/** Ids of the processes that are `sleep <seconds>`, or a program that runs it as its command. Shell scripts do not count. */
export function processesSleeping(seconds: number): readonly number[] {
  return processesWith((words) => words.some((word, at) => word === "sleep" && words[at + 1] === String(seconds)));
}

/** Ids of the processes that work in the folder, or in a folder of it. */
export function processesIn(folder: string): readonly number[] {
  const isInside = (id: string): boolean => {
    try {
      return `${readlinkSync(`/proc/${id}/cwd`)}/`.startsWith(`${folder}/`);
    } catch {
      return false; // the process has ended
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isInside(name))
    .map(Number);
}

/** Resolves once `isRight` accepts the count of processes with the number; the test's timeout ends an endless wait. */
export async function untilProcesses(number: number, isRight: (count: number) => boolean): Promise<void> {
  while (!isRight(processesNaming(number).length)) await delay(POLL_MS);
}

/** False for a zombie, too. */
export function isAlive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== "" && !/\) [ZX] /.test(stat);
}

function commandLine(id: string): readonly string[] {
  return read(`/proc/${id}/cmdline`).split("\u0000");
}

/** Empty if the process has ended. */
function read(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
