/** Runs a restore, file by file. Copies each file before the change, and logs the change after it. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileFailure, FileWrite, HostFiles } from "../host/host.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { inParallel, mapInParallel } from "../platform/in-parallel.ts";
import { processIdentity } from "../platform/locks/process-identity.ts";
import type { FileState } from "../sessions/entry.ts";
import { type ChangeLog, type IntendedWrite, type InterruptedRestore, isSameContent } from "./change-log.ts";
import { missingFolders } from "./checkpointed-files.ts";
import { readDiskState, readShownFile, type ShownFile, stateOf } from "./disk-state.ts";
import { hashOf, type ObjectStore } from "./object-store.ts";
import { type PlannedFile, type PlanPorts, planFile, type ShownPlan, shownPlan, type Wanted } from "./restore-plan.ts";
import type { Target } from "./restore-targets.ts";

/** Reason for a file that changed between the plan and the write. */
const CHANGED = "it changed during the restore";

type Plan = Extract<PlannedFile, { leftAlone: undefined }>;
type Content = Extract<Wanted, { kind: "content" }>;
type Writing = { readonly files: HostFiles; readonly signal: AbortSignal };

export type RestorePorts = PlanPorts & { readonly store: ObjectStore; readonly log: ChangeLog };

/** Files that are restored at the same time. */
const FILES_AT_ONCE = 16;

/**
 * `id` is the restore's id in the journal. Each part of the files is planned, copied and logged before it is written. Rejects
 * with the signal's reason; earlier changes are logged.
 */
export async function restoreFiles(
  targets: readonly Target[],
  id: string,
  ports: RestorePorts,
  signal: AbortSignal,
): Promise<readonly ShownPlan[]> {
  const restored = new Map<string, ShownPlan>();
  // A file may have to return to the place of a new folder, or a folder to the place of a new file.
  const isRemoved = ({ wanted }: Target): boolean => wanted === null;
  for (const phase of [targets.filter(isRemoved), targets.filter((target) => !isRemoved(target))]) {
    for (let at = 0; at < phase.length; at += FILES_AT_ONCE) {
      signal.throwIfAborted();
      const part = phase.slice(at, at + FILES_AT_ONCE);
      for (const file of await restorePart(part, id, ports, signal)) restored.set(file.path, file);
    }
  }
  return targets.flatMap(({ path }) => restored.get(path) ?? []);
}

/** A planned file whose present state is copied. */
type Ready = { readonly plan: Plan; readonly write: IntendedWrite };

async function restorePart(
  part: readonly Target[],
  id: string,
  ports: RestorePorts,
  signal: AbortSignal,
): Promise<readonly ShownPlan[]> {
  const planned = await mapInParallel(part, part.length, async (target) => {
    const plan = await planFile(target, ports, signal);
    if (plan === undefined) {
      // A restore that was killed between a file and its folder leaves the folder, perhaps in the place of a file.
      if (target.wanted === null) await removeEmpty(target.folders);
      return undefined;
    }
    const prepared = plan.leftAlone === undefined ? await prepare(plan, ports.store) : plan.leftAlone;
    return typeof prepared === "string" ? { ...shownPlan(plan, false), leftAlone: prepared } : prepared;
  });
  const restored: ShownPlan[] = planned.filter((each) => each !== undefined && "path" in each);
  const ready = planned.filter((each) => each !== undefined && "write" in each);
  ports.log.intend(
    id,
    ready.map(({ write }) => write),
  );
  const made = new Map<Ready, FileState | null>();
  try {
    await inParallel(ready, part.length, async (each) => {
      const { plan } = each;
      const leftAlone = await revertFile(plan, ports.files, signal);
      restored.push({ ...shownPlan(plan, false), leftAlone });
      if (leftAlone !== undefined) return;
      const { state } = await readShownFile(ports.files, plan.path, signal);
      if (state !== undefined) made.set(each, state);
    });
  } finally {
    for (const each of ready) {
      const after = made.get(each);
      if (after !== undefined) ports.log.add({ ...each.write, by: "restore", source: id, after });
    }
  }
  return restored;
}

/** Copies the present state; gives the reason if that fails, as the end of a sentence about the file. */
async function prepare(plan: Plan, store: ObjectStore): Promise<Ready | string> {
  const { path, present, wanted } = plan;
  const before = await storePresent(present, store);
  if (before === undefined) return "its current content could not be copied";
  const folders = wanted.kind === "content" ? await missingFolders(path) : [];
  const after = stateAfter(wanted, present);
  return { plan, write: { path, before, after, ...(folders.length > 0 && { folders: [...folders] }) } };
}

/** State that a write leads to, for a restore that is interrupted before it is logged. */
function stateAfter(wanted: Wanted, { isUnsaved }: ShownFile): FileState | null {
  if (wanted.kind === "nothing") return null;
  const { state, bytes, text } = wanted;
  const { unsaved: _, ...onDisk } = { ...state, hash: hashOf(wanted.isMerged ? (text ?? bytes) : bytes) };
  return isUnsaved && text !== undefined ? { ...onDisk, unsaved: hashOf(text) } : onDisk;
}

/**
 * Completes the log of an interrupted restore: adds the writes that were made and not logged, and removes its temporary files.
 */
export async function completeLog(
  { id, writes }: InterruptedRestore,
  { files, log }: Pick<RestorePorts, "files" | "log">,
  signal: AbortSignal,
): Promise<void> {
  for (const write of writes) {
    const { state } = await readShownFile(files, write.path, signal);
    const isWritten =
      state !== undefined && !(isSameContent(state, write.before) && state?.mode === write.before?.mode);
    if (isWritten) log.add({ ...write, by: "restore", source: id });
  }
  for (const folder of new Set(writes.map(({ path }) => dirname(path)))) await removeAbandoned(folder);
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

/** Removes the temporary files of agents that were killed while they wrote. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = /^\.hermes-(\d+)-\w+\.tmp$/.exec(name)?.[1];
    if (pid !== undefined && processIdentity(Number(pid)) === undefined) await rm(join(folder, name), { force: true });
  }
}

/** Removes empty folders, the innermost first; stops at a folder that is not empty. */
async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) {
    const isGone = await rmdir(folder).then(
      () => true,
      (error: unknown) => hasCode(error, "ENOENT"), // removed with another file
    );
    if (!isGone) return;
  }
}
