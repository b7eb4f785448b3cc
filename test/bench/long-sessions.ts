/** Opening what was stored: a session of 200 MB for going on, one of 10,000 messages for showing it again. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { AcpProcess } from "../support/acp-process.ts";
import { writeLongJournal } from "./long-journal.ts";
import { median, type Row } from "./measuring.ts";

const LARGE = { id: "20261120_120000_0000000a", size: { bytes: 200_000_000, lines: 180 } };
const LONG = { id: "20261120_120000_0000000b", size: { messages: 10_000, lines: 30 } };
const ROUNDS = 3;
const FLOOR = join(import.meta.dirname, "long-journal-floor.mjs");

type Opened = { readonly ms: number; readonly peakMb: number };

export async function measureLongSessions(): Promise<readonly Row[]> {
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-long-"));
  const folder = join(home, "vscode", "sessions");
  try {
    mkdirSync(folder, { recursive: true });
    for (const { id, size } of [LARGE, LONG]) writeLongJournal(join(folder, `${id}.jsonl`), id, size);
    const pathOf = ({ id }: { readonly id: string }): string => join(folder, `${id}.jsonl`);
    const resumed = await rounds(() => opened(home, "session/resume", LARGE.id));
    const resumeFloor = await rounds(() => floor(pathOf(LARGE), "silent"));
    const loaded = await rounds(() => opened(home, "session/load", LONG.id));
    const loadFloor = await rounds(() => floor(pathOf(LONG), "prints"));
    return [
      { what: "session/resume of 200 MB", ours: resumed.ms, floor: resumeFloor.ms, target: 1_500, unit: "ms" },
      { what: "its peak memory", ours: resumed.peakMb, floor: resumeFloor.peakMb, target: 250, unit: "MB" },
      {
        what: "session/load of 10,000 messages (12 MB)",
        ours: loaded.ms,
        floor: loadFloor.ms,
        target: 1_000,
        unit: "ms",
      },
      { what: "its peak memory", ours: loaded.peakMb, floor: loadFloor.peakMb, target: 250, unit: "MB" },
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function rounds(measure: () => Promise<Opened>): Promise<Opened> {
  const all: Opened[] = [];
  for (let round = 0; round < ROUNDS; round += 1) all.push(await measure());
  return { ms: median(all.map(({ ms }) => ms)), peakMb: median(all.map(({ peakMb }) => peakMb)) };
}

/** By an agent that has just started, until its client has everything. */
async function opened(home: string, method: string, sessionId: string): Promise<Opened> {
  const agent = new AcpProcess({}, home);
  await agent.initialize();
  const start = performance.now();
  const { error } = await agent.request(method, { sessionId, cwd: agent.cwd, mcpServers: [] });
  const ms = performance.now() - start;
  if (error !== undefined) throw new Error(error.message);
  const peakMb = peakOf(agent.child.pid);
  await agent.stop();
  return { ms, peakMb };
}

/** Resident, in MB; 0 where the system does not tell. */
function peakOf(pid: number | undefined): number {
  if (process.platform !== "linux") return 0;
  const [, kilobytes = 0] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kilobytes) * 1_024) / 1e6;
}

async function floor(path: string, prints: "prints" | "silent"): Promise<Opened> {
  const child = spawn(process.execPath, [FLOOR, path, prints], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const exited = once(child, "exit");
  let start = 0;
  let last = "";
  for await (const line of lines) {
    if (start === 0) {
      start = performance.now();
      child.stdin.end("go\n");
    } else if (line.startsWith("{")) JSON.parse(line);
    last = line;
  }
  const ms = performance.now() - start;
  await exited;
  return { ms, peakMb: Number(last.replace("done ", "")) };
}
