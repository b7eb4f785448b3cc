import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Building } from "../../../../agent-core/sessions/index/index-messages.ts";
import { SessionIndex } from "../../../../agent-core/sessions/index/session-index.ts";
import { sweep } from "../../../support/scale.ts";

const SESSIONS = sweep(2_000, 300);
const idOf = (number: number): string => `20261120_120000_${number.toString(16).padStart(8, "0")}`;

let folder: string;
let journals: string;
const open: SessionIndex[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-rebuild-"));
  journals = join(folder, "sessions");
  mkdirSync(journals);
  for (let number = 0; number < SESSIONS; number += 1) write(number, [`common text number${number}`, "thanks"]);
});

afterEach(async () => {
  for (const index of open.splice(0)) await index.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(number: number, texts: readonly string[]): void {
  const at = 1_000 + number;
  const head = { type: "session", version: 1, id: idOf(number), cwd: "/project", at };
  const messages = texts.map((content) => ({ type: "message", message: { role: "user", content }, at }));
  const path = join(journals, `${idOf(number)}.jsonl`);
  writeFileSync(path, `${[head, ...messages].map((entry) => JSON.stringify(entry)).join("\n")}\n`);
  utimesSync(path, at, at);
}

type Watched = { readonly index: SessionIndex; readonly told: Building[]; readonly built: Promise<void> };

function watched(file = join(folder, "index.sqlite")): Watched {
  const told: Building[] = [];
  const { promise: built, resolve } = Promise.withResolvers<void>();
  const building = (progress: Building): void => {
    told.push(progress);
    if (progress.done === progress.total) resolve();
  };
  const index = new SessionIndex({ journals, file, log: () => undefined, building });
  open.push(index);
  return { index, told, built };
}

const count = async (index: SessionIndex) => (await index.ask("list", { limit: 5_000 })).value.length;

test("while a missing index is built, lists and searches answer from the finished part and report it", async () => {
  const { index, told, built } = watched();
  const first = await index.ask("list", { limit: 50 });
  expect(first.building?.total).toBe(SESSIONS);
  expect(first.value.length).toBeLessThan(SESSIONS);
  await built;
  expect(told[0]).toEqual({ done: 0, total: SESSIONS });
  expect(told.map(({ done }) => done)).toEqual(told.map(({ done }) => done).toSorted((one, other) => one - other));
  const after = await index.ask("list", { limit: 5_000 });
  expect(after.building).toBeUndefined();
  expect(after.value).toHaveLength(SESSIONS);
  expect((await index.ask("search", { query: "number234 ", limit: 10, except: "" })).value).toMatchObject([
    { sessionId: idOf(234), position: 0 },
  ]);
});

test("the last used sessions are indexed first", async () => {
  const { index, built } = watched(join(folder, "newest-first.sqlite"));
  // The first answer waits for the newest, or a moment; until the second they are there.
  await index.ask("list", { limit: 50 });
  await expect.poll(async () => (await index.ask("list", { limit: 1 })).value[0]?.id).toBe(idOf(SESSIONS - 1));
  await built;
});

test.each([
  ["a bit is flipped in", (bytes: Buffer) => Buffer.from(bytes).fill((bytes[90_000] ?? 0) ^ 1, 90_000, 90_001)],
  ["the last byte is missing of", (bytes: Buffer) => bytes.subarray(0, -1)],
  ["there is no database in", () => Buffer.from("SQLite it is not")],
])("when %s the snapshot, the index is built again", async (_, damage) => {
  const file = join(folder, "index.sqlite");
  writeFileSync(file, damage(readFileSync(file)));
  const { index, told, built } = watched();
  await index.ask("list", { limit: 1 });
  await built;
  expect(told[0]?.total).toBe(SESSIONS);
  expect(await count(index)).toBe(SESSIONS);
});

test("a complete snapshot is not built again", async () => {
  const { index, told } = watched();
  expect(await count(index)).toBe(SESSIONS);
  expect(told).toEqual([]);
});

test("an interrupted rebuild continues from its last state, and leaves no files", async () => {
  const file = join(folder, "ended.sqlite");
  const first = watched(file);
  await first.index.ask("list", { limit: 1 });
  await first.index.close();
  expect(existsSync(file)).toBe(true);
  expect(first.told.every(({ done }) => done < SESSIONS)).toBe(true);
  const second = watched(file);
  await second.index.ask("list", { limit: 1 });
  await second.built;
  expect(second.told[0]?.total).toBeLessThan(SESSIONS);
  expect(await count(second.index)).toBe(SESSIONS);
  expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("two processes build and save at the same time without losing entries", async () => {
  const file = join(folder, "two.sqlite");
  const [one, other] = [watched(file), watched(file)];
  await Promise.all([one.index.ask("list", { limit: 1 }), other.index.ask("list", { limit: 1 })]);
  write(SESSIONS, ["said meanwhile"]);
  // The slower one may find the snapshot of the other complete, and then builds nothing.
  for (const { index } of [one, other])
    await expect.poll(async () => (await index.ask("list", { limit: 1 })).building).toBeUndefined();
  // A writer holds the journal's lock: other journals are read again only after some seconds.
  writeFileSync(join(journals, `${idOf(7)}.jsonl.lock`), "");
  appendFileSync(
    join(journals, `${idOf(7)}.jsonl`),
    `${JSON.stringify({ type: "title", title: "Seventh", at: 1_007 })}\n`,
  );
  expect(await count(one.index)).toBe(SESSIONS + 1);
  expect((await other.index.ask("find", idOf(7))).value?.title).toBe("Seventh");
  await Promise.all([one.index.close(), other.index.close()]);
  const next = watched(file);
  expect(await count(next.index)).toBe(SESSIONS + 1);
  expect((await next.index.ask("find", idOf(7))).value?.title).toBe("Seventh");
  expect(next.told).toEqual([]);
  rmSync(join(journals, `${idOf(SESSIONS)}.jsonl`));
});
