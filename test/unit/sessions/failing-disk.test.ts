import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import type { JournalFiles } from "../../../agent-core/sessions/line-file.ts";
import { sweep } from "../../support/scale.ts";
import { seeded } from "../approval/support/random.ts";
import { type Fault, faultyFiles, type Operation } from "./support/faulty-files.ts";

let path: string;
let told: string[];

beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "hermes-failing-disk-")), "sessions", "s.jsonl");
  told = [];
});

afterEach(() => {
  vi.useRealTimers();
});

function open(files: JournalFiles): Journal {
  return new Journal({
    path,
    files,
    sessionId: "20261120_120000_0000abcd",
    cwd: "/project",
    now: () => 1000,
    onFailure: (message) => told.push(message),
    onRecovery: (message) => told.push(message),
  });
}

const mode = (text: string) => ({ type: "mode", mode: text }) as const;

/** The modes that stand in the file; a torn last line does not count, and any other line must be whole. */
function stored(): string[] {
  const text = readFileSync(path, "utf8");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const entries = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  if (entries.length > 0) expect(entries.shift()).toMatchObject({ type: "session" });
  return entries.map((entry) => entry.mode);
}

test("a full disk is reported once; waiting entries are written in order when there is space, with a report", async () => {
  let isFull = false as boolean;
  const journal = open(faultyFiles((operation) => (isFull && operation === "write" ? "ENOSPC" : undefined)));
  journal.append(mode("one"));
  isFull = true;
  for (const text of ["two", "three", "four"]) journal.append(mode(text));
  await journal.sync();
  expect(stored()).toEqual(["one"]);
  expect(told).toEqual([
    expect.stringMatching(
      /^This session is not being saved: the disk is full \(.*only in memory until it can be saved\.$/,
    ),
  ]);
  isFull = false;
  journal.append(mode("five"));
  await journal.sync();
  journal.close();
  expect(stored()).toEqual(["one", "two", "three", "four", "five"]);
  expect(told).toEqual([expect.stringContaining("not being saved"), expect.stringContaining("saved again")]);
});

test("waiting entries are written when the disk works again", async () => {
  vi.useFakeTimers();
  let isFull = true as boolean;
  const journal = open(faultyFiles((operation) => (isFull && operation === "write" ? "EDQUOT" : undefined)));
  journal.append(mode("one"));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(stored()).toEqual([]);
  isFull = false;
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  await expect.poll(() => told).toHaveLength(2);
  expect(stored()).toEqual(["one"]);
  journal.close();
});

test("half a line that could not be removed at once never precedes another line", () => {
  const failing = new Set<Operation>();
  const journal = open(faultyFiles((operation) => (failing.has(operation) ? "EIO" : undefined)));
  journal.append(mode("one"));
  failing.add("write").add("truncate");
  journal.append(mode("two"));
  expect(readFileSync(path, "utf8")).toMatch(/[^\n]$/);
  failing.delete("write");
  journal.append(mode("three"));
  expect(stored()).toEqual(["one"]);
  failing.clear();
  journal.append(mode("four"));
  expect(stored()).toEqual(["one", "two", "three", "four"]);
  journal.close();
});

test("lines that a failed sync lost are written again", async () => {
  let isFailing = false as boolean;
  const journal = open(faultyFiles((operation) => (isFailing && operation === "sync" ? "EIO" : undefined)));
  journal.append(mode("one"));
  await journal.sync();
  isFailing = true;
  journal.append(mode("two"));
  await journal.sync();
  expect(readFileSync(path, "utf8")).toContain("\0");
  isFailing = false;
  await journal.sync();
  expect(stored()).toEqual(["one", "two"]);
  expect(told).toHaveLength(2);
  journal.close();
});

test("a close while a sync is under way waits for it, and gives the lock back", async () => {
  const journal = open(faultyFiles(() => undefined));
  journal.append(mode("one"));
  const synced = journal.sync();
  journal.close();
  await synced;
  expect(told).toEqual([]);
  expect(stored()).toEqual(["one"]);
});

test("a file that was emptied behind the journal's back begins anew as a session", () => {
  const files = faultyFiles(() => undefined);
  const journal = open(files);
  journal.append(mode("one"));
  const descriptor = files.open(path);
  files.truncate(descriptor, 0);
  files.close(descriptor);
  journal.append(mode("two"));
  journal.close();
  expect(stored()).toEqual(["two"]);
});

/** A disk that fails for a while, works for a while, in every way that disks do. */
function moodyDisk(seed: number): { readonly files: JournalFiles; heal(): void } {
  const random = seeded(seed);
  let isHealed = false as boolean;
  let fault: Fault | undefined;
  let left = 0;
  const files = faultyFiles((operation) => {
    if (isHealed) return undefined;
    if (left === 0) {
      fault = random.chance(0.5) ? undefined : random.pick(["ENOSPC", "EIO", "EROFS", "EACCES", "short"] as const);
      left = 1 + random.below(12);
    }
    left -= 1;
    // Some faults meet every operation, some only this one.
    return operation === "sync" && random.chance(0.5) ? undefined : fault;
  });
  return { files, heal: () => (isHealed = true) };
}

function isPrefix(some: readonly string[], all: readonly string[]): boolean {
  return some.every((text, index) => text === all[index]);
}

test.for(Array.from({ length: sweep(150, 40) }, (_, seed) => seed))(
  "nothing is lost by any failure (seed %i)",
  async (seed) => {
    const random = seeded(seed + 1_000);
    const { files, heal } = moodyDisk(seed);
    let journal = open(files);
    const said: string[] = [];
    const entries: { read(): unknown }[] = [];
    for (let step = 0; step < 60; step += 1) {
      const text = `${step} ${"x".repeat(random.below(400))}`;
      said.push(text);
      entries.push(journal.append(mode(text)));
      if (random.chance(0.2)) await journal.sync();
      const earlier = random.below(said.length);
      expect(entries[earlier]?.read()).toMatchObject(mode(said[earlier] ?? ""));
    }
    heal();
    await journal.sync();
    journal.close();
    expect(stored()).toEqual(said);
    const kinds = told.map((message) => (message.includes("not being saved") ? "failed" : "again"));
    expect(kinds).toEqual(kinds.map((_, index) => (index % 2 === 0 ? "failed" : "again")));
    // The next writer continues behind it.
    journal = open(faultyFiles(() => undefined));
    journal.append(mode("next"));
    journal.close();
    expect(stored()).toEqual([...said, "next"]);
  },
);

test.for(Array.from({ length: sweep(100, 25) }, (_, seed) => seed))(
  "wherever the process dies, what stands is whole lines in order (seed %i)",
  async (seed) => {
    const random = seeded(seed + 9_000);
    // Without failing syncs: what a power cut takes is not what this is about.
    const { files } = moodyDisk(seed);
    const journal = open({ ...files, sync: () => Promise.resolve() });
    const said: string[] = [];
    for (let step = 0; step < 5 + random.below(40); step += 1) {
      const text = `${step} ${"x".repeat(random.below(400))}`;
      said.push(text);
      journal.append(mode(text));
    }
    // It dies here: nothing is closed.
    const next = open(faultyFiles(() => undefined));
    next.append(mode("next"));
    next.close();
    const lines = stored();
    expect(lines.pop()).toBe("next");
    expect(isPrefix(lines, said)).toBe(true);
  },
);
