import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { collectGarbage, forgetSession, hashesIn } from "../../../agent-core/checkpoints/collect-garbage.ts";
import { ObjectStore } from "../../../agent-core/checkpoints/object-store.ts";

const DAY_MS = 86_400_000;
const { signal } = new AbortController();
let store: ObjectStore;
let journals: string;

beforeEach(() => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-garbage-")));
  store = new ObjectStore(join(home, "checkpoints"));
  journals = join(home, "sessions");
  mkdirSync(journals);
});

/** An object that was put in so many days ago. */
async function object(text: string, days: number): Promise<string> {
  const hash = await store.put(Buffer.from(text));
  age(store.pathOf(hash), days);
  return hash;
}

/** A journal that names these objects, with its age in days. */
function journal(name: string, hashes: readonly string[], days: number): string {
  const path = join(journals, `${name}.jsonl`);
  const lines = hashes.map((hash) => ({
    type: "file-change",
    path: "/w/a.txt",
    by: "edit",
    source: "call_1",
    before: { hash, mode: 0o644 },
    after: null,
    position: 1,
    at: 0,
  }));
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  age(path, days);
  return path;
}

function age(path: string, days: number): void {
  const at = new Date(Date.now() - days * DAY_MS);
  utimesSync(path, at, at);
}

const sweep = (maxBytes?: number): Promise<void> =>
  collectGarbage({ store, journals, now: Date.now(), signal, ...(maxBytes !== undefined && { maxBytes }) });

test("objects without a session are removed after a day", async () => {
  const told = await object("told", 5);
  const untold = await object("untold", 5);
  const young = await object("young", 0);
  journal("a", [told], 5);
  await sweep();
  expect(await Promise.all([told, untold, young].map((hash) => store.has(hash)))).toEqual([true, false, true]);
});

test("objects with the texts of a diff are kept", async () => {
  const [oldHash, newHash] = [await object("before", 5), await object("after", 5)];
  const diffs = [{ path: "/w/a.txt", oldHash, newHash }];
  const call = { type: "tool", callId: "c", name: "patch", title: "Edit a.txt", kind: "edit", locations: [] };
  const path = journal("a", [], 5);
  writeFileSync(path, `${JSON.stringify({ ...call, diffs, ok: true, durationMs: 1, at: 0 })}\n`);
  await sweep();
  expect([store.textOf(oldHash), store.textOf(newHash)]).toEqual(["before", "after"]);
  expect(await hashesIn(path)).toEqual(new Set([oldHash, newHash]));
});

test("objects of sessions unused for 30 days are removed, those of open sessions never", async () => {
  const old = await object("old", 40);
  const open = await object("open", 40);
  journal("old", [old], 40);
  writeFileSync(`${journal("open", [open], 40)}.lock`, "");
  await sweep();
  expect(await Promise.all([old, open].map((hash) => store.has(hash)))).toEqual([false, true]);
});

test("above the size limit, objects of the oldest sessions are removed", async () => {
  const [first, second, third] = await Promise.all(["one", "two", "three"].map((text) => object(text.repeat(50), 5)));
  journal("first", [first!], 5);
  journal("second", [second!], 4);
  journal("third", [third!], 3);
  await sweep(450);
  expect(await Promise.all([first, second, third].map((hash) => store.has(hash!)))).toEqual([false, true, true]);
});

test("the collection runs once a day, in one process", async () => {
  await object("a", 5);
  await sweep();
  const later = await object("b", 5);
  await sweep();
  expect(await store.has(later)).toBe(true);
  expect(readdirSync(store.folder)).not.toContain("swept.lock");
});

test("a deleted session loses its own objects", async () => {
  const own = await object("own", 0);
  const shared = await object("shared", 0);
  const path = journal("deleted", [own, shared], 0);
  const hashes = await hashesIn(path);
  journal("deleted", [], 0);
  journal("other", [shared], 0);
  await forgetSession(hashes, store, journals);
  expect(await Promise.all([own, shared].map((hash) => store.has(hash)))).toEqual([false, true]);
  expect(existsSync(store.pathOf(own))).toBe(false);
});
