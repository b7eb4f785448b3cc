import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";
import { acquireLock } from "../../../../agent-core/platform/locks/file-lock.ts";
import { processIdentity } from "../../../../agent-core/platform/locks/process-identity.ts";

const TAKER = join(import.meta.dirname, "support", "lock-taker.ts");
const children: ChildProcess[] = [];
let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-lock-"));
  path = join(folder, "s.jsonl.lock");
});

afterEach(async () => {
  for (const child of children.splice(0)) {
    const gone = child.exitCode ?? child.signalCode ?? once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
});

/** Sends a line to another process, and gives its answer. */
function taker(): { readonly child: ChildProcess; tell(line: string): Promise<string> } {
  const child = spawn(process.execPath, [TAKER], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    child,
    tell: async (line) => {
      child.stdin!.write(`${line}\n`);
      return String((await lines.next()).value);
    },
  };
}

function isTaken(lock: ReturnType<typeof acquireLock>): boolean {
  return !("pid" in lock);
}

test("a released lock leaves no file", () => {
  const lock = acquireLock(path);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ pid: process.pid });
  if (!("pid" in lock)) lock.release();
  expect(readdirSync(folder)).toEqual([]);
});

test("the lock of another process holds while it lives, and is taken over after its death", async () => {
  const { child, tell } = taker();
  expect(await tell(`take ${path}`)).toBe("taken");
  expect(acquireLock(path)).toEqual({ pid: child.pid });
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  expect(isTaken(acquireLock(path))).toBe(true);
  expect(readdirSync(folder)).toEqual(["s.jsonl.lock"]);
});

test("a lock whose process id now belongs to another process is taken over", async () => {
  const { child, tell } = taker();
  await tell(`take ${path}`);
  const lock = JSON.parse(readFileSync(path, "utf8"));
  expect(lock).toMatchObject({ pid: child.pid, birth: processIdentity(child.pid ?? 0)?.startTime });
  writeFileSync(path, JSON.stringify({ ...lock, birth: "of an earlier process" }));
  expect(isTaken(acquireLock(path))).toBe(true);
});

test("a lock of an older version, with a process id only, holds while that process lives", () => {
  writeFileSync(path, JSON.stringify({ pid: process.ppid }));
  expect(acquireLock(path)).toEqual({ pid: process.ppid });
  writeFileSync(path, JSON.stringify({ pid: spawnSync("true").pid }));
  expect(isTaken(acquireLock(path))).toBe(true);
});

test.for(["", "garbage", "\0\0\0", '{"pid":-1}', "[]"])("a damaged lock has no holder: %j", (text) => {
  writeFileSync(path, text);
  expect(isTaken(acquireLock(path))).toBe(true);
});

test("a late release of an earlier lock keeps the later lock of the same process", () => {
  const earlier = acquireLock(path);
  const later = acquireLock(path);
  if (!("pid" in earlier)) earlier.release();
  expect(existsSync(path)).toBe(true);
  if (!("pid" in later)) later.release();
  expect(existsSync(path)).toBe(false);
});

test("a zombie holds no lock", async () => {
  // Its parent never asks how its child has ended.
  const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(parent);
  const [output] = await once(parent.stdout, "data");
  const pid = Number(String(output));
  await expect.poll(() => processIdentity(pid)).toBeUndefined();
  writeFileSync(path, JSON.stringify({ pid }));
  expect(isTaken(acquireLock(path))).toBe(true);
});

test("exactly one of several processes that find a lock dead takes it over", { timeout: 60_000 }, async () => {
  const takers = Array.from({ length: 5 }, taker);
  const dead = JSON.stringify({ pid: spawnSync("true").pid });
  for (let round = 0; round < 100; round += 1) {
    writeFileSync(path, dead);
    const answers = await Promise.all(takers.map(({ tell }) => tell(`take ${path}`)));
    expect(answers.filter((answer) => answer === "taken")).toHaveLength(1);
    await Promise.all(takers.map(({ tell }) => tell("give")));
    expect(readdirSync(folder)).toEqual([]);
  }
});
