import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { SpaceReserve } from "../../../agent-core/sessions/write-fault.ts";
import { type ErrorCode, faultyFiles, type Operation } from "./support/faulty-files.ts";

let folder: string;
let told: string[];
const kept = (): string => join(folder, "kept");
const journalPath = (): string => join(folder, "s.jsonl");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-reserve-"));
  told = [];
});

/** On a disk that has no room for `operation` until what is kept was given up. */
function journalOn(isFull: () => boolean, operation: Operation, code: ErrorCode = "ENOSPC"): Journal {
  return new Journal({
    path: journalPath(),
    sessionId: "20261120_120000_0000abcd",
    cwd: "/project",
    now: () => 1000,
    files: faultyFiles((asked) => (isFull() && asked === operation && existsSync(kept()) ? code : undefined)),
    reserve: new SpaceReserve(kept()),
    onFailure: (message) => told.push(message),
    onRecovery: (message) => told.push(message),
    onFullDisk: (message) => told.push(message),
  });
}

const mode = (text: string) => ({ type: "mode", mode: text }) as const;

function stored(): string[] {
  const [, ...lines] = readFileSync(journalPath(), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line).mode);
}

test("space is kept once something was stored, for the user alone, and stays", async () => {
  const journal = journalOn(() => false, "write");
  expect(existsSync(kept())).toBe(false);
  journal.append(mode("one"));
  await journal.sync();
  await expect.poll(() => existsSync(kept()) && statSync(kept()).size).toBe(1_024 * 1_024);
  expect(statSync(kept()).mode & 0o777).toBe(0o600);
  const { mtimeMs } = statSync(kept());
  await new SpaceReserve(kept()).keep();
  expect(statSync(kept()).mtimeMs).toBe(mtimeMs);
  journal.close();
});

test("an incomplete reserve of a dead process is completed", async () => {
  writeFileSync(kept(), "half");
  await new SpaceReserve(kept()).keep();
  expect(statSync(kept()).size).toBe(1_024 * 1_024);
});

test("without the right to create it there is no reserve, and no error", async () => {
  const reserve = new SpaceReserve(join(folder, "nowhere", "kept"));
  await reserve.keep();
  expect(reserve.release()).toBe(false);
  mkdirSync(join(folder, "nowhere"));
  await reserve.keep(); // tried again
  expect(reserve.release()).toBe(true);
  expect(reserve.release()).toBe(false);
});

test.for([
  ["write", "ENOSPC"],
  ["write", "EDQUOT"],
  ["open", "ENOSPC"],
  ["makeFolder", "ENOSPC"],
  ["sync", "ENOSPC"],
] as const)(
  "a disk that is full when it comes to %s (%s): all is saved, and it is told once",
  async ([operation, code]) => {
    await new SpaceReserve(kept()).keep();
    let isFull = operation !== "write" && operation !== "sync";
    const journal = journalOn(() => isFull, operation, code);
    journal.append(mode("one"));
    isFull = true;
    for (const text of ["two", "three"]) journal.append(mode(text));
    await journal.sync();
    expect(stored()).toEqual(["one", "two", "three"]);
    expect(told).toEqual([
      expect.stringMatching(/^Free some disk space: .*still being saved, in space reserved for it\.$/),
    ]);
    journal.close();
  },
);

test("a disk that fails otherwise costs no space that is kept", async () => {
  await new SpaceReserve(kept()).keep();
  const journal = journalOn(() => true, "write", "EIO");
  journal.append(mode("one"));
  expect(told).toEqual([expect.stringContaining("This session is not being saved: the disk reports an error")]);
  expect(existsSync(kept())).toBe(true);
  journal.close();
});
