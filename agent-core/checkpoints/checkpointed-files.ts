/** Files for the tools of one call: copies a file before each change, and logs the change after it. */
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { FileFailure, FileWrite, FileWritten, HostFiles } from "../host/host.ts";
import { messageOf } from "../platform/errors.ts";
import { pathBelow } from "../platform/paths.ts";
import type { FileState } from "../sessions/entry.ts";
import { type ChangeLog, isSameContent } from "./change-log.ts";
import { contentOf, type DiskState, MAX_KEPT_BYTES, readDiskState, stateOf, textOf } from "./disk-state.ts";
import { hashOf, type ObjectStore } from "./object-store.ts";

export type CheckpointedFiles = {
  readonly files: HostFiles;
  readonly store: ObjectStore;
  readonly log: ChangeLog;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  readonly source: string;
  /** Stores a content in the background, and reports a failure elsewhere. */
  readonly storeLater: (content: Buffer | string) => void;
  /** Settles when the changes of earlier commands are logged. */
  readonly settled: () => Promise<void>;
  /** Reports an edit that begins to write. The result is called after its end. */
  readonly editing: (path: string) => () => void;
  /** Called with a line for the user when no earlier copy could be kept. */
  readonly notifyUser: (problem: string) => void;
};

type Outcome = FileWritten | FileFailure | undefined;

export function checkpointedFiles(options: CheckpointedFiles): HostFiles {
  return { ...options.files, guardedWrite: loggedWrite(options), rename: loggedMove(options) };
}

/** Content of a file before a change, and the copy of it that is kept. */
type Kept = { readonly found: DiskState; readonly state: FileState | null | "unknown" };

type Change = {
  /** Unique name of the file (`fileName`). */
  readonly path: string;
  /** Texts before and after the change as the user sees them; null: no file. */
  readonly before: string | null;
  readonly after: string | null;
  readonly kept: Kept;
  /** Folders that the change creates. */
  readonly folders: readonly string[];
};

function loggedWrite(options: CheckpointedFiles): HostFiles["guardedWrite"] {
  return async (write, signal) => {
    await options.settled();
    const { expected, after } = write;
    const path = await (after === null ? entryName : fileName)(write.path, options.roots);
    const folders = expected === null ? await missingFolders(path) : [];
    let changing: Change | undefined;
    let ended = (): void => undefined;
    const keep: FileWrite["keep"] = async (before) => {
      const kept = await keepCopy(options, write.path, before ?? { kind: "absent" });
      changing = { path, before: expected, after, kept, folders };
      ended();
      ended = options.editing(path);
    };
    let written: Outcome;
    try {
      written = await options.files.guardedWrite({ ...write, keep }, signal);
    } finally {
      // Also after a failure: the file may have changed before it. A conflict is found before any change.
      const isUnchanged = written?.ok === false && written.reason === "conflict";
      if (changing !== undefined && !isUnchanged) await log(options, changing, written, signal);
      ended();
    }
    if (!written.ok || written.restore === undefined) return written;
    const { restore } = written;
    const back = {
      path,
      before: null,
      after: expected,
      kept: { found: { kind: "absent" }, state: null },
      folders: [],
    } as const;
    return {
      ...written,
      async restore() {
        const ended = options.editing(path);
        const restored = await restore();
        await log(options, back, restored, new AbortController().signal);
        ended();
        return restored;
      },
    };
  };
}

function loggedMove(options: CheckpointedFiles): HostFiles["rename"] {
  return async (move, signal) => {
    await options.settled();
    const { files, roots } = options;
    const { from, to, expected } = move;
    const [oldPath, newPath] = [await entryName(from, roots), await fileName(to, roots)];
    const changes: readonly Change[] = [
      { ...(await foundAt(options, oldPath)), before: expected, after: null },
      { ...(await foundAt(options, newPath)), before: null, after: expected },
    ];
    const ended = [oldPath, newPath].map(options.editing);
    let moved: Outcome;
    try {
      moved = await files.rename(move, signal);
      return moved;
    } finally {
      for (const change of changes) await log(options, change, moved, signal);
      for (const end of ended) end();
    }
  };
}

async function foundAt(options: CheckpointedFiles, path: string): Promise<Pick<Change, "path" | "kept" | "folders">> {
  const found = await readDiskState(path);
  const folders = found.kind === "absent" ? await missingFolders(path) : [];
  return { path, kept: await keepCopy(options, path, found), folders };
}

/** `path` is for the message that no copy could be kept. */
async function keepCopy({ store, notifyUser }: CheckpointedFiles, path: string, found: DiskState): Promise<Kept> {
  const content = contentOf(found);
  if (found.kind === "absent") return { found, state: null };
  if (content === undefined || content.length > MAX_KEPT_BYTES) return { found, state: "unknown" };
  const state = stateOf(found) ?? "unknown";
  try {
    await store.put(content);
    return { found, state };
  } catch (error) {
    notifyUser(`could not copy ${path} before its change, so the change cannot be reverted: ${messageOf(error)}`);
    return { found, state: "unknown" };
  }
}

async function log(options: CheckpointedFiles, change: Change, written: Outcome, signal: AbortSignal): Promise<void> {
  const { path, kept, folders } = change;
  const after = await stateAfter(options, change, written, signal);
  if (after === undefined) return;
  const before = await stateBefore(options, change, written);
  if (before !== "unknown" && isSameContent(before, after)) return;
  const isNew = kept.state === null && folders.length > 0;
  options.log.add({ path, by: "edit", source: options.source, before, after, ...(isNew && { folders: [...folders] }) });
}

/** State of the disk, with the unsaved text of the editor. */
async function stateBefore(
  { store, notifyUser }: CheckpointedFiles,
  { path, before, kept }: Change,
  written: Outcome,
): Promise<Kept["state"]> {
  const { found, state } = kept;
  if (state === "unknown" || written?.ok !== true || found.kind === "link") return state;
  // The user may have typed more while a review waited.
  const shown = written.review?.before === undefined ? before : written.review.before;
  const onDisk = found.kind === "file" ? textOf(found.bytes) : undefined;
  if (shown === null || shown === onDisk) return state;
  const unsaved = await store.put(Buffer.from(shown)).catch((error: unknown) => {
    notifyUser(`could not copy the unsaved text of ${path} before its change: ${messageOf(error)}`);
    return undefined;
  });
  if (unsaved === undefined) return "unknown";
  return { ...(state ?? { hash: null, mode: 0 }), unsaved };
}

/** Also stores the texts, so that a restore can keep what the user adds to them. */
async function stateAfter(
  { files, storeLater }: CheckpointedFiles,
  { path, after }: Change,
  written: Outcome,
  signal: AbortSignal,
): Promise<FileState | null | undefined> {
  const known = written?.ok === true ? written.disk : undefined;
  // Large files are known by size and date, which only the disk has.
  const isLarge = known?.entry?.kind === "file" && known.entry.bytes.length > MAX_KEPT_BYTES;
  const found = known === undefined || isLarge ? await readDiskState(path) : (known.entry ?? ABSENT);
  const state = stateOf(found);
  if (state === undefined || written?.ok !== true) return state;
  if (found.kind === "file") storeLater(found.bytes);
  const shown = written.review === undefined ? after : written.review.text;
  const unsaved = known === undefined ? await unsavedText(files, path, { shown, found }, signal) : known.unsaved;
  if (unsaved === undefined) return state;
  storeLater(unsaved);
  return { ...(state ?? { hash: null, mode: 0 }), unsaved: hashOf(unsaved) };
}

const ABSENT = { kind: "absent" } as const;

/** Text that the editor shows instead of the disk's, in its own line ends. */
async function unsavedText(
  files: HostFiles,
  path: string,
  { shown, found }: { readonly shown: string | null; readonly found: DiskState },
  signal: AbortSignal,
): Promise<string | undefined> {
  // An editor may still show a file that no longer exists.
  if (shown === null || (found.kind === "file" && textOf(found.bytes) === shown)) return undefined;
  const read = await files.readText(path, signal).catch(() => undefined);
  return read?.ok === true && read.source === "editor" ? read.text : undefined;
}

/** Folders that do not exist yet, the outermost first. */
export async function missingFolders(path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((await stat(folder).catch(() => undefined)) !== undefined) break;
    missing.unshift(folder);
  }
  return missing;
}

/**
 * Unique name of a file, independent of links: its path in a workspace folder of the session, else its real path.
 * The file may not exist yet.
 */
async function fileName(path: string, roots: readonly string[]): Promise<string> {
  const real = await realPathOf(path);
  for (const root of roots) {
    const inner = pathBelow(await realPathOf(root), real);
    if (inner !== undefined) return join(root, inner);
  }
  return real;
}

/** Unique name of a folder's entry: of a link itself, not of its target. */
async function entryName(path: string, roots: readonly string[]): Promise<string> {
  return join(await fileName(dirname(path), roots), basename(path));
}

/** Real path of the longest part that exists, with the rest of the path. */
async function realPathOf(path: string): Promise<string> {
  const whole = await realpath(path).catch(() => undefined);
  if (whole !== undefined) return whole;
  const parent = dirname(path);
  return parent === path ? path : join(await realPathOf(parent), basename(path));
}
