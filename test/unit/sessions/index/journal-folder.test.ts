import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { JournalFolder } from "../../../../agent-core/sessions/index/catch-up.ts";
import { Journal } from "../../../../agent-core/sessions/journal.ts";

const ONE = "20261120_120000_00000001";
const OTHER = "20261120_120000_00000002";
let home: string;
let folder: JournalFolder;
const openJournals: Journal[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-journals-"));
  folder = new JournalFolder(home);
});

afterEach(() => {
  vi.useRealTimers();
  for (const journal of openJournals.splice(0)) journal.close();
  rmSync(home, { recursive: true });
});

const pathOf = (id: string): string => join(home, `${id}.jsonl`);
const sizes = (): Record<string, number> =>
  Object.fromEntries([...folder.files()].map(([id, { size }]) => [id.slice(-1), size]));

/** As if the folder had last changed long ago. */
function rest(): void {
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(home, longAgo, longAgo);
}

function journalOf(id: string): Journal {
  const journal = new Journal({ path: pathOf(id), sessionId: id, cwd: "/project", now: Date.now, onFailure: throwIt });
  openJournals.push(journal);
  return journal;
}

function throwIt(message: string): never {
  throw new Error(message);
}

test("a folder that is not there has no journals, and has them once it is", () => {
  folder = new JournalFolder(join(home, "sessions"));
  expect(folder.files().size).toBe(0);
  mkdirSync(join(home, "sessions"));
  writeFileSync(join(home, "sessions", `${ONE}.jsonl`), "12345");
  expect(sizes()).toEqual({ 1: 5 });
});

test("only files that bear a session's name are journals", () => {
  writeFileSync(pathOf(ONE), "1");
  for (const name of ["notes.txt", "notes.jsonl", `${OTHER}.jsonl.lock`, `${OTHER}.md`]) {
    writeFileSync(join(home, name), "1");
  }
  expect([...folder.files().keys()]).toEqual([ONE]);
});

test("entries of an open session are seen without a change of the folder", () => {
  const journal = journalOf(ONE);
  journal.append({ type: "title", title: "first" });
  rest();
  const before = sizes()[1] ?? 0;
  journal.append({ type: "title", title: "second" });
  expect(sizes()[1]).toBeGreaterThan(before);
});

test("a session that was opened, written and closed between two looks is seen", () => {
  writeFileSync(pathOf(ONE), "");
  rest();
  expect(sizes()).toEqual({ 1: 0 });
  const journal = journalOf(ONE);
  journal.append({ type: "title", title: "a new name" });
  journal.close();
  expect(sizes()[1]).toBeGreaterThan(0);
});

test("journals come and go", () => {
  writeFileSync(pathOf(ONE), "1");
  rest();
  expect(sizes()).toEqual({ 1: 1 });
  writeFileSync(pathOf(OTHER), "22");
  expect(sizes()).toEqual({ 1: 1, 2: 2 });
  rmSync(pathOf(ONE));
  expect(sizes()).toEqual({ 2: 2 });
});

test("a change right after a change of the folder is seen, in spite of coarse file times", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  writeFileSync(pathOf(ONE), "1");
  expect(sizes()).toEqual({ 1: 1 });
  appendFileSync(pathOf(ONE), "2");
  expect(sizes()).toEqual({ 1: 2 });
});

test("a manual change of a closed session is seen a little later", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  writeFileSync(pathOf(ONE), "1");
  rest();
  expect(sizes()).toEqual({ 1: 1 });
  appendFileSync(pathOf(ONE), "2");
  expect(sizes()).toEqual({ 1: 1 }); // no file of a settled folder is looked at but those of open sessions
  vi.setSystemTime(Date.now() + 10_000);
  expect(sizes()).toEqual({ 1: 2 });
});

test("a clock that jumps back hides no entry", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  writeFileSync(pathOf(ONE), "1");
  rest();
  expect(sizes()).toEqual({ 1: 1 });
  vi.setSystemTime(Date.now() - 86_400_000);
  appendFileSync(pathOf(ONE), "2");
  expect(sizes()).toEqual({ 1: 2 });
});
