import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withLock, withLockSync } from "../../../../agent-core/platform/locks/file-lock.ts";

const COUNTER = join(import.meta.dirname, "support", "counter.ts");
const TAKER = join(import.meta.dirname, "support", "lock-taker.ts");
let folder: string;
let file: string;
let lock: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-locked-"));
  file = join(folder, "count");
  lock = `${file}.lock`;
  writeFileSync(file, "0");
});

afterEach(async () => {
  vi.restoreAllMocks();
  const gone = child && once(child, "exit");
  child?.kill("SIGKILL");
  await gone;
  child = undefined;
});

async function countUp(): Promise<void> {
  await withLock(lock, async () => {
    const count = Number(await readFile(file, "utf8"));
    await writeFile(file, String(count + 1));
  });
}

async function lockElsewhere(): Promise<void> {
  child = spawn(process.execPath, [TAKER], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin?.write(`take ${lock}\n`);
  if (child.stdout !== null) await once(child.stdout, "data");
}

test("processes, and calls in one process, run one after the other", { timeout: 60_000 }, async () => {
  const others = ["a", "b", "c"].map(() => promisify(execFile)(process.execPath, [COUNTER, file, "40"]));
  await Promise.all([...others, ...Array.from({ length: 40 }, countUp)]);
  expect(readFileSync(file, "utf8")).toBe("160");
  expect(readdirSync(folder)).toEqual(["count"]);
});

test("failed work rejects for its caller, and the next work runs", async () => {
  const failed = withLock(lock, () => Promise.reject(new Error("no room")));
  const next = withLock(lock, async () => "written");
  await expect(failed).rejects.toThrow("no room");
  expect(await next).toBe("written");
  expect(() =>
    withLockSync(lock, () => {
      throw new Error("no room");
    }),
  ).toThrow("no room");
  expect(readdirSync(folder)).toEqual(["count"]);
});

test("the error after ten seconds names the process that keeps the lock", async () => {
  await lockElsewhere();
  const begin = performance.now();
  let looks = 0;
  vi.spyOn(performance, "now").mockImplementation(() => begin + 1_000 * looks++);
  await expect(countUp()).rejects.toThrow(`process ${child?.pid} keeps it locked`);
  expect(looks).toBeGreaterThan(9);
  expect(() => withLockSync(lock, () => undefined)).toThrow(`process ${child?.pid} keeps it locked`);
  expect(readdirSync(folder)).toEqual(["count", "count.lock"]);
});
