/** Time of a search through this repository, by name and by content. Floor: ripgrep itself, started with spawn. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { nodeSearch } from "../../agent-core/host/node-search.ts";
import { projectFolder } from "../../scripts/project.ts";
import { ripgrep } from "../support/programs.ts";
import { type Row, times } from "./measuring.ts";

const ROUNDS = 15;
/** The built-in search takes 130 ms for content on the machine where ripgrep takes 17. */
const TARGET_MS = 40;

const searches = [
  { target: "content", pattern: "messageOf", floor: ["--hidden", "messageOf"] },
  { target: "files", pattern: "*.test.ts", floor: ["--hidden", "--files"] },
] as const;

export async function measureSearch(): Promise<readonly Row[]> {
  if (ripgrep === undefined) return [];
  const program = ripgrep;
  const host = nodeSearch({ ripgrep: program });
  const rows: Row[] = [];
  for (const { target, pattern, floor } of searches) {
    const ours = await times(ROUNDS, () =>
      timeOf(() => host.search({ target, pattern, root: projectFolder }, new AbortController().signal)),
    );
    const plain = await times(ROUNDS, () => timeOf(() => run(program, [...floor, projectFolder])));
    rows.push({ what: `search of this repository: ${target}`, ours, floor: plain, target: TARGET_MS, unit: "ms" });
  }
  return rows;
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  await once(child, "close");
}
