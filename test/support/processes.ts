/** The machine's processes, as Linux tells of them. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const LOOK_MS = 20;

/** Ids of the living processes whose command line is such a one. */
export function processesWith(isWanted: (words: readonly string[]) => boolean): readonly number[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => isWanted(commandLine(id))).map(Number);
}

/** Of those with a number somewhere in their command line that only the commands of one test have there. */
export function processesNaming(number: number): readonly number[] {
  return processesWith((words) => words.some((word) => word.includes(String(number))));
}

/** Of those that are `sleep <seconds>`, or a program that runs just that. A shell with a script of it is none. */
export function processesSleeping(seconds: number): readonly number[] {
  return processesWith((words) => words.some((word, at) => word === "sleep" && words[at + 1] === String(seconds)));
}

/** Resolves when so many processes name the number; what never comes to that is ended by the test's limit. */
export async function untilProcesses(number: number, isRight: (count: number) => boolean): Promise<void> {
  while (!isRight(processesNaming(number).length)) await delay(LOOK_MS);
}

/** False also for one that has ended and that nobody has reaped yet. */
export function isAlive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== "" && !/\) [ZX] /.test(stat);
}

function commandLine(id: string): readonly string[] {
  return read(`/proc/${id}/cmdline`).split("\u0000");
}

/** Empty when the process has ended meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
