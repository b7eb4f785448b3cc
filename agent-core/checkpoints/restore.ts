/** Runs a restore, file by file. Copies each file before the change, and logs the change after it. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileFailure, FileWrite, HostFiles } from "../host/host.ts";
import { messageOf } from "../platform/errors.ts";
import type { FileState } from "../sessions/entry.ts";
import { type ChangeLog, isSameContent } from "./change-log.ts";
import { missingFolders } from "./checkpointed-files.ts";
import { readDiskState, readShownFile, type ShownFile, stateOf } from "./disk-state.ts";
import type { ObjectStore } from "./object-store.ts";
import { type PlannedFile, planFile, type Target, type Wanted } from "./restore-plan.ts";

/** Reason for a file that changed between the plan and the write. */
const CHANGED = "it changed during the restore";

/** Result for a file; `leftAlone` is the reason why the file did not change. */
export type RestoredFile = Pick<PlannedFile, "path" | "change" | "added" | "removed"> & {
  readonly leftAlone: string | undefined;
};

type Plan = Extract<PlannedFile, { leftAlone: undefined }>;
type Content = Extract<Wanted, { kind: "content" }>;
type Writing = { readonly files: HostFiles; readonly signal: AbortSignal };

export type RestorePorts = { readonly files: HostFiles; readonly store: ObjectStore; readonly log: ChangeLog };

/** `id` is the restore's id in the journal. Rejects with the signal's reason; earlier changes are logged. */
export async function restoreFiles(
  targets: readonly Target[],
  id: string,
  ports: RestorePorts,
  signal: AbortSignal,
): Promise<readonly RestoredFile[]> {
  const restored: RestoredFile[] = [];
  // A file in whose place a folder was created returns when the folder is gone.
  const created = new Set(targets.flatMap(({ folders }) => folders));
  const last = targets.filter(({ path }) => created.has(path));
  for (const target of [...targets.filter(({ path }) => !created.has(path)), ...last]) {
    signal.throwIfAborted();
    const file = await restoreFile(target, id, ports, signal);
    if (file !== undefined) restored.push(file);
  }
  return restored;
}

async function restoreFile(
  target: Target,
  id: string,
  { files, store, log }: RestorePorts,
  signal: AbortSignal,
): Promise<RestoredFile | undefined> {
  const plan = await planFile(target, files, store, signal);
  if (plan === undefined) return undefined;
  const { path, change, added, removed } = plan;
  if (plan.leftAlone !== undefined) return { path, change, added, removed, leftAlone: plan.leftAlone };
  const before = await storePresent(plan.present, store);
  if (before === undefined) {
    return { path, change, added, removed, leftAlone: "its current content could not be copied" };
  }
  const folders = plan.wanted.kind === "content" ? await missingFolders(path) : [];
  const leftAlone = await revertFile(plan, files, signal);
  const { state } = await readShownFile(files, path, signal);
  if (leftAlone === undefined && state !== undefined) {
    log.add({
      path,
      by: "restore",
      source: id,
      before,
      after: state,
      ...(folders.length > 0 && { folders: [...folders] }),
    });
  }
  return { path, change, added, removed, leftAlone };
}

/** Stores the present content; undefined when that fails. */
async function storePresent(
  { found, state, text, isUnsaved }: ShownFile,
  store: ObjectStore,
): Promise<FileState | null | undefined> {
  if (state === undefined || found.kind === "large") return undefined;
  try {
    if (found.kind === "file") await store.put(found.bytes);
    if (found.kind === "link") await store.put(Buffer.from(found.target));
    if (isUnsaved && typeof text === "string") await store.put(Buffer.from(text));
    return state;
  } catch {
    return undefined; // on a full disk the file stays, so that nothing is lost
  }
}

/**
 * Writes the earlier content: texts through the Host, so that an editor takes part, and anything else to the disk. Gives the
 * reason for a failure, as the end of a sentence about the path.
 */
async function revertFile(plan: Plan, files: HostFiles, signal: AbortSignal): Promise<string | undefined> {
  const { path, wanted, present, folders } = plan;
  try {
    if (wanted.kind === "content") return await writeContent(path, wanted, present, { files, signal });
    const failure = await remove(path, present, { files, signal });
    if (failure === undefined) await removeEmpty(folders);
    return failure;
  } catch (error) {
    signal.throwIfAborted();
    return `it could not be written: ${messageOf(error)}`;
  }
}

async function writeContent(
  path: string,
  wanted: Content,
  present: ShownFile,
  { files, signal }: Writing,
): Promise<string | undefined> {
  const { text, state } = wanted;
  if (text === undefined || present.text === undefined) {
    if (!(await isUnchanged(path, present))) return CHANGED;
    await writeDisk(path, wanted);
    return undefined;
  }
  if (text !== present.text) {
    const failure = reasonOf(await files.guardedWrite(revertOf(path, text, present), signal));
    if (failure !== undefined) return failure;
  }
  await finishDisk(path, wanted, wanted.isMerged === true || present.isUnsaved || state.unsaved !== undefined);
  return undefined;
}

/** Restores what a text lacks: byte order mark, line endings that an editor normalised, permissions. */
async function finishDisk(path: string, wanted: Content, isInEditor: boolean): Promise<void> {
  const now = await readDiskState(path);
  if (now.kind !== "file") return;
  if (!isInEditor && !now.bytes.equals(wanted.bytes)) await writeDisk(path, wanted);
  else if (wanted.state.hash !== null && now.mode !== wanted.state.mode) await chmod(path, wanted.state.mode);
}

async function remove(path: string, present: ShownFile, { files, signal }: Writing): Promise<string | undefined> {
  if (present.text === undefined) {
    if (!(await isUnchanged(path, present))) return CHANGED;
    await rm(path);
    return undefined;
  }
  return reasonOf(await files.guardedWrite(revertOf(path, null, present), signal));
}

async function isUnchanged(path: string, { state }: ShownFile): Promise<boolean> {
  const now = stateOf(await readDiskState(path));
  return state !== undefined && now !== undefined && isSameContent(now, state);
}

function revertOf(path: string, after: string | null, { text }: ShownFile): FileWrite {
  return { path, expected: text ?? null, after, purpose: "revert" };
}

function reasonOf(written: { readonly ok: true } | FileFailure): string | undefined {
  if (written.ok) return undefined;
  return written.reason === "conflict" ? CHANGED : `it could not be written: ${written.message}`;
}

/** Writes a neighbour and renames it over the path, so that the file is complete at every moment. */
async function writeDisk(path: string, { bytes, state }: Content): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const neighbour = join(dirname(path), `.hermes-${process.pid}-${randomBytes(4).toString("hex")}.tmp`);
  try {
    if (state.link) {
      await symlink(bytes.toString(), neighbour);
    } else {
      await writeFile(neighbour, bytes, { flag: "wx" });
      await chmod(neighbour, state.mode);
    }
    await rename(neighbour, path);
  } catch (error) {
    await rm(neighbour, { force: true });
    throw error;
  }
}

/** Removes empty folders, the innermost first; stops at a folder that is not empty. */
async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false, // not empty, or removed already
    );
    if (!isGone) return;
  }
}
