/** The machine's processes, by a number that only the commands of one test have in them. */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const LOOK_MS = 20;

/** Ids of the living processes whose command line names the number. */
export function processesNaming(number: number): readonly string[] {
  const names = (id: string): boolean => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, "utf8").includes(String(number));
    } catch {
      return false; // it ended meanwhile
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && names(name));
}

/** Resolves when so many of them live; what never comes to that is ended by the test's limit. */
export async function untilProcesses(number: number, isRight: (count: number) => boolean): Promise<void> {
  while (!isRight(processesNaming(number).length)) await delay(LOOK_MS);
}
