/**
 * Garbage collection of the store: removes objects without a journal, objects of sessions that were not used for a month,
 * and then those of the oldest sessions until the store is small enough. Open sessions keep all objects.
 */
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { acquireLock } from "../platform/locks/file-lock.ts";
import { type FileChange, parseEntry } from "../sessions/entry.ts";
import { readLines } from "../sessions/journal-lines.ts";
import type { ObjectStore } from "./object-store.ts";

/** Limit of all objects together. Bytes. */
const MAX_BYTES = 500_000_000;
const DAY_MS = 86_400_000;
/** Time after a session's last use in which its changes can be reverted. */
const KEPT_MS = 30 * DAY_MS;
/** Younger objects stay: another window may be logging their change at this moment. */
const GRACE_MS = DAY_MS;
const INTERVAL_MS = DAY_MS;
const STAMP = "swept";
/** Parts of the lines that name objects: changes of files, restores, and diffs of edits. */
const MENTIONS = ['"type":"file-change"', '"type":"git-copies"', '"type":"restore"', '"newHash":'];

export type GarbageOptions = {
  readonly store: ObjectStore;
  /** Folder of the journals, absolute. */
  readonly journals: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Stops the collection; the next one continues. */
  readonly signal: AbortSignal;
  /** Default: 500 MB. */
  readonly maxBytes?: number;
};

type Journal = { readonly path: string; readonly usedAt: number; readonly isOpen: boolean };
type StoredObject = { readonly hash: string; readonly path: string; readonly size: number; readonly usedAt: number };

/** Runs once a day, in one process. Rejects when the store cannot be read. */
export async function collectGarbage(options: GarbageOptions): Promise<void> {
  const { store, now } = options;
  if (!existsSync(store.folder)) return;
  const stamp = join(store.folder, STAMP);
  const last = await stat(stamp).catch(() => undefined);
  if (last !== undefined && now - last.mtimeMs < INTERVAL_MS) return;
  const lock = acquireLock(`${stamp}.lock`);
  if ("pid" in lock) return;
  try {
    await sweep(options);
    await writeFile(stamp, "", { mode: 0o600 });
    await utimes(stamp, new Date(now), new Date(now));
  } finally {
    lock.release();
  }
}

/** Hashes in a journal; none for an unreadable one. */
export async function hashesIn(journal: string): Promise<ReadonlySet<string>> {
  const hashes = new Set<string>();
  try {
    for await (const lines of readLines(journal)) {
      for (const { bytes } of lines)
        if (MENTIONS.some((mention) => bytes.includes(mention))) for (const hash of hashesOf(bytes)) hashes.add(hash);
    }
  } catch {
    // The journal is gone or unreadable.
  }
  return hashes;
}

function hashesOf(line: Buffer): readonly string[] {
  const entry = parseEntry(line.toString("utf8"));
  const hashes: (string | null | undefined)[] = [];
  const add = (state: FileChange["before"]): void => {
    if (state !== null && typeof state === "object" && "hash" in state) hashes.push(state.hash, state.unsaved);
  };
  if (entry?.type === "tool") {
    for (const diff of entry.diffs) if ("newHash" in diff) hashes.push(diff.oldHash, diff.newHash);
  }
  if (entry?.type === "git-copies") hashes.push(...Object.values(entry.hashes));
  if (entry?.type === "file-change") for (const state of [entry.before, entry.after]) add(state);
  if (entry?.type === "restore") for (const { before } of entry.files ?? []) add(before);
  return hashes.filter((hash) => hash != null);
}

/** Removes the objects that only the deleted session needs. `hashes` are those of its journal. */
export async function forgetSession(hashes: ReadonlySet<string>, store: ObjectStore, journals: string): Promise<void> {
  const left = new Set(hashes);
  for (const { path } of await journalsIn(journals)) {
    if (left.size === 0) return;
    for (const hash of await hashesIn(path)) left.delete(hash);
  }
  for (const hash of left) await rm(store.pathOf(hash), { force: true });
}

async function sweep(options: GarbageOptions): Promise<void> {
  const { store, now, signal } = options;
  const objects = await objectsIn(store);
  const needed = await neededObjects(objects, options);
  for (const { hash, path, usedAt } of objects) {
    signal.throwIfAborted();
    if (needed.has(hash) || now - usedAt < GRACE_MS) continue;
    // Another window may have stored the object again since the listing.
    const present = await stat(path).catch(() => undefined);
    if (present?.mtimeMs === usedAt) await rm(path, { force: true });
  }
}

/** Objects of the open sessions, then of the others by last use, until they are too old or too large. */
async function neededObjects(
  objects: readonly StoredObject[],
  { journals, now, maxBytes = MAX_BYTES, signal }: GarbageOptions,
): Promise<ReadonlySet<string>> {
  const sizes = new Map(objects.map(({ hash, size }) => [hash, size]));
  const needed = new Set<string>();
  let bytes = 0;
  const byUse = (await journalsIn(journals)).toSorted(
    (one, other) => Number(other.isOpen) - Number(one.isOpen) || other.usedAt - one.usedAt,
  );
  for (const { path, usedAt, isOpen } of byUse) {
    signal.throwIfAborted();
    const added = [...(await hashesIn(path))].filter((hash) => !needed.has(hash));
    bytes += added.reduce((sum, hash) => sum + (sizes.get(hash) ?? 0), 0);
    if (!isOpen && (now - usedAt > KEPT_MS || bytes > maxBytes)) break;
    for (const hash of added) needed.add(hash);
  }
  return needed;
}

async function journalsIn(folder: string): Promise<readonly Journal[]> {
  const names = await readdir(folder).catch(() => []);
  const journals = names.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
  const found = await Promise.all(
    journals.map(async (path) => {
      const usedAt = (await stat(path).catch(() => undefined))?.mtimeMs;
      return usedAt === undefined ? undefined : { path, usedAt, isOpen: existsSync(`${path}.lock`) };
    }),
  );
  return found.filter((journal) => journal !== undefined);
}

async function objectsIn({ folder }: ObjectStore): Promise<readonly StoredObject[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath !== folder);
  const objects: StoredObject[] = [];
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    const found = await stat(path).catch(() => undefined);
    const hash = parentPath.slice(-2) + name;
    if (found !== undefined) objects.push({ hash, path, size: found.size, usedAt: found.mtimeMs });
  }
  return objects;
}
