import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "sql.js";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { EntryWriter } from "../../../../agent-core/sessions/index/entry-writer.ts";
import { openSnapshot } from "../../../../agent-core/sessions/index/index-snapshot.ts";
import { openDatabase, saveDatabase } from "../../../../agent-core/sessions/index/open-database.ts";
import { searchMessages } from "../../../../agent-core/sessions/index/search-messages.ts";

const ID = "20261120_120000_00000001";
const MESSAGES = 2_000;
const PATIENCE_MS = 60_000;
let folder: string;
let file: string;
let whole: Buffer;
let database: Database;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-snapshot-"));
  file = join(folder, "index.sqlite");
  ({ database } = await openDatabase(file));
  add(Array.from({ length: MESSAGES }, (_, number) => `number${number} ${"of many words ".repeat(20)}`));
  await saveDatabase(database, file);
  database.close();
  whole = readFileSync(file);
}, PATIENCE_MS);

beforeEach(async () => {
  writeFileSync(file, whole);
  ({ database } = await openDatabase(file));
});

afterEach(() => database.close());

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function add(texts: readonly string[]): void {
  database.run("BEGIN");
  const writer = new EntryWriter(database);
  const head = { type: "session", version: 1, id: ID, cwd: "/project", at: 1 } as const;
  const messages = texts.map((content) => ({ type: "message", message: { role: "user", content }, at: 1 }) as const);
  writer.add(ID, [head, ...messages], 1);
  writer.free();
  database.run("COMMIT");
}

/** Opens the file as it is now. */
async function reopen(): Promise<Awaited<ReturnType<typeof openDatabase>>> {
  const opened = await openDatabase(file);
  database.close();
  database = opened.database;
  return opened;
}

const positions = (query: string): number[] =>
  searchMessages(database, { query, limit: 1, except: "" }).map(({ position }) => position);

/** Blocks that were not asked for. */
function unread(snapshot: { readOn(count: number): boolean } | undefined): number {
  let count = 0;
  while (snapshot?.readOn(1) === false) count += 1;
  return count;
}

test("opening and one question read a few blocks of a snapshot; reading on reads the rest, once", async () => {
  const { snapshot, refused } = await reopen();
  expect(refused).toBe(false);
  expect(positions("number1234")).toEqual([1_234]);
  expect(unread(snapshot)).toBeGreaterThan(10);
  expect(unread(snapshot)).toBe(0);
  rmSync(file);
  expect(positions("number77")).toEqual([77]);
});

test("entries written before a snapshot is read stay, and are saved with it", async () => {
  await reopen();
  add(["zebra"]);
  await saveDatabase(database, file);
  expect(readdirSync(folder)).toEqual(["index.sqlite"]);
  await reopen();
  expect(positions("zebra")).toEqual([MESSAGES]);
  expect(positions("number1999")).toEqual([1_999]);
  expect(database.exec("PRAGMA integrity_check")[0]?.values).toEqual([["ok"]]);
});

test("a snapshot that is deleted, or replaced by another process, is read to its end as it was", async () => {
  const { snapshot } = await reopen();
  rmSync(file);
  writeFileSync(file, "another");
  expect(positions("number5")).toEqual([5]);
  expect(snapshot?.readOn(Number.POSITIVE_INFINITY)).toBe(true);
  expect(positions("number1500")).toEqual([1_500]);
});

test("each flipped bit is found before anything is answered from it", async () => {
  for (let at = 0; at < whole.length; at += Math.floor(whole.length / 60)) {
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    writeFileSync(file, bytes);
    let isFound = false as boolean;
    try {
      const snapshot = openSnapshot(file);
      isFound = snapshot === undefined;
      snapshot?.readOn(Number.POSITIVE_INFINITY);
    } catch (error) {
      isFound = String(error).includes("malformed");
    }
    expect(isFound, `byte ${at}`).toBe(true);
  }
});

test("SQLite says so when it comes upon a damaged block", async () => {
  const bytes = Buffer.from(whole);
  bytes.fill(0xa5, 40_000, bytes.length - 40_000);
  writeFileSync(file, bytes);
  const { refused } = await reopen();
  expect(refused).toBe(false);
  expect(() => positions("number1000")).toThrow(/disk I\/O error|malformed/);
});

test.each([0, 1, 27, 28, 29, 100])("a file of %i bytes is no snapshot", (length) => {
  writeFileSync(file, whole.subarray(0, length));
  expect(openSnapshot(file)).toBeUndefined();
});
