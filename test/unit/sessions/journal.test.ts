import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { readJournal } from "../../../agent-core/sessions/read-journal.ts";

let path: string;
let failures: string[];
const open = (): Journal =>
  new Journal({
    path,
    sessionId: "20261120_120000_0000abcd",
    cwd: "/project",
    now: () => 1000,
    onFailure: (message) => failures.push(message),
  });
const user = (content: string) => ({ type: "message", message: { role: "user", content } }) as const;

beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "hermes-journal-")), "sub", "s.jsonl");
  failures = [];
});

async function storedTexts(): Promise<unknown[]> {
  const read = await readJournal(path);
  if (!read.ok) throw new Error(read.message);
  return read.session.conversation.messages.map((message) => message.content);
}

test("an unused session leaves no file", () => {
  open().close();
  expect(existsSync(path)).toBe(false);
});

test("appended entries are read in order", async () => {
  const journal = open();
  journal.append(user("one"));
  journal.append({ type: "mode", mode: "plan" });
  journal.append(user("two"));
  await journal.sync();
  journal.close();
  const read = await readJournal(path);
  expect(read).toMatchObject({
    ok: true,
    session: { id: "20261120_120000_0000abcd", cwd: "/project", mode: "plan", damagedLines: 0 },
  });
  expect(await storedTexts()).toEqual(["one", "two"]);
});

test("an entry is read again from the file, also after the journal was closed", async () => {
  const journal = open();
  const first = journal.append(user("one"));
  await journal.sync();
  const second = journal.append(user("two"));
  expect(second.read()).toEqual({ ...user("two"), at: 1000 });
  journal.close();
  expect(first.read()).toEqual({ ...user("one"), at: 1000 });
});

test("an entry that another program has overwritten is not read as another entry", async () => {
  const journal = open();
  const entry = journal.append(user("one"));
  await journal.sync();
  journal.close();
  writeFileSync(path, "x".repeat(readFileSync(path).length));
  expect(entry.read()).toBeUndefined();
});

test("a torn last line is ignored by a reader and cut off before the next entry", async () => {
  const journal = open();
  journal.append(user("one"));
  journal.close();
  appendFileSync(path, '{"type":"message","message":{"role":"us');
  expect(await storedTexts()).toEqual(["one"]);
  const again = open();
  again.append(user("two"));
  again.close();
  expect(await storedTexts()).toEqual(["one", "two"]);
  expect(readFileSync(path, "utf8").trimEnd().split("\n")).toHaveLength(3);
});

test("a torn line longer than one chunk is removed completely", async () => {
  const journal = open();
  journal.append(user("one"));
  journal.close();
  appendFileSync(path, `{"type":"message","text":"${"x".repeat(200_000)}`);
  const again = open();
  again.append(user("two"));
  again.close();
  expect(await storedTexts()).toEqual(["one", "two"]);
});

test("a damaged line in the middle costs that line only, and is counted", async () => {
  const journal = open();
  journal.append(user("one"));
  journal.close();
  appendFileSync(path, "\u0000garbage\n");
  const again = open();
  again.append(user("two"));
  again.close();
  expect(await storedTexts()).toEqual(["one", "two"]);
  expect(await readJournal(path)).toMatchObject({ session: { damagedLines: 1 } });
});

test("a journal of a later format is refused with its number", async () => {
  open().append(user("one"));
  writeFileSync(path, readFileSync(path, "utf8").replace('"version":1', '"version":99'));
  expect(await readJournal(path)).toMatchObject({ ok: false, message: expect.stringContaining("format 99") });
});

test("the lock of a living process keeps a second writer out, and names the process", () => {
  const journal = open();
  journal.append(user("one"));
  journal.close();
  writeFileSync(`${path}.lock`, JSON.stringify({ pid: 1 }));
  const second = open();
  second.append(user("two"));
  second.append(user("three"));
  expect(failures).toEqual([expect.stringContaining("process 1")]);
});

test("the lock of a dead process is taken over", async () => {
  const dead = spawnSync("true");
  const journal = open();
  journal.append(user("one"));
  journal.close();
  writeFileSync(`${path}.lock`, JSON.stringify({ pid: dead.pid }));
  const second = open();
  second.append(user("two"));
  second.close();
  expect(failures).toEqual([]);
  expect(await storedTexts()).toEqual(["one", "two"]);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test("a folder that cannot be created is reported once, and the writer continues", () => {
  writeFileSync(join(path, "..", "..", "sub"), "a file in the way");
  const journal = open();
  journal.append(user("one"));
  journal.append(user("two"));
  expect(failures).toHaveLength(1);
});

test("rewinds and compressions apply again after reading", async () => {
  const journal = open();
  for (const [position, content] of ["one", "two", "three"].entries()) {
    journal.append({ type: "message", position, message: { role: "user", content } });
  }
  journal.append({ type: "rewind", keep: 2 });
  journal.append({ type: "message", position: 3, message: { role: "user", content: "four" } });
  journal.append({
    type: "compression",
    child: "20261120_120000_0000abce",
    strategy: "summary",
    dropped: [[0, 1]],
    summary: "one and two",
    shortened: [],
    tokensBefore: 20,
    tokensAfter: 10,
  });
  journal.close();
  expect(await storedTexts()).toEqual(["[COMPRESSED: 2 messages summarized]\none and two\n[END COMPRESSED]", "four"]);
});

test("a journal that is deleted while it is open is written again completely with the next message", async () => {
  const journal = open();
  journal.append(user("one"));
  rmSync(dirname(path), { recursive: true });
  journal.append(user("two"));
  journal.close();
  expect(await storedTexts()).toEqual(["one", "two"]);
  expect(failures).toEqual([]);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test("a file that another one took the place of while it was open is not written over", async () => {
  const journal = open();
  journal.append(user("one"));
  rmSync(path);
  writeFileSync(path, '{"type":"message","message":{"role":"user","content":"another"},"at":1}\n');
  journal.append(user("two"));
  expect(failures).toEqual([expect.stringContaining("continued elsewhere")]);
  expect(journal.claim()).toContain("continued elsewhere");
  journal.close();
  expect(await storedTexts()).toEqual(["another"]);
});

test("a journal has one owner; a deleted session cannot be claimed", () => {
  const journal = open();
  journal.append(user("one"));
  journal.close();
  writeFileSync(`${path}.lock`, JSON.stringify({ pid: 1 }));
  expect(open().claim()).toContain("process 1");
  rmSync(path);
  rmSync(`${path}.lock`);
  expect(journal.claim()).toContain("deleted");
  expect(existsSync(path)).toBe(false);
  expect(failures).toEqual([]);
});
