/** Files as the tools of one call change them: what stood there is kept before, what stands there is noted after. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { ExpectedText, FileFailure, FileWritten, HostFiles } from "../host/host.ts";
import { messageOf } from "../platform/errors.ts";
import type { FileState } from "../sessions/entry.ts";
import { type ChangeLog, isSameContent } from "./change-log.ts";
import { contentOf, lookAt, type OnDisk, stateOf, textOf } from "./look.ts";
import type { ObjectStore } from "./object-store.ts";
import { hashOf } from "./object-store.ts";
import { entryName, fileName } from "./real-path.ts";

export type CheckpointedFiles = {
  readonly files: HostFiles;
  readonly store: ObjectStore;
  readonly log: ChangeLog;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** Id of the tool call. */
  readonly source: string;
  /** Settles when what commands have changed is noted. */
  readonly settled: () => Promise<void>;
  /** Told in a line for people when no earlier copy could be kept. */
  readonly tell: (problem: string) => void;
};

export function checkpointedFiles(options: CheckpointedFiles): HostFiles {
  const { files } = options;
  return {
    ...files,
    writeText: (path, text, expected, signal) =>
      noted(options, [{ path, text, expected }], signal, () => files.writeText(path, text, expected, signal)),
    putBack: (path, text, expected, signal) =>
      noted(options, [{ path, text, expected }], signal, () => files.putBack(path, text, expected, signal)),
    async remove(path, text, signal) {
      const expected = { kind: "text", text } as const;
      const change = { path, text: null, expected, isEntry: true };
      const removed = await noted(options, [change], signal, () => files.remove(path, text, signal));
      if (!removed.ok || removed.bringBack === undefined) return removed;
      const { bringBack } = removed;
      const back = { path, text, expected: { kind: "absent" }, isEntry: true } as const;
      return { ...removed, bringBack: () => noted(options, [back], new AbortController().signal, bringBack) };
    },
    rename(move, signal) {
      const { from, to, expected: text } = move;
      const changes: readonly Wanted[] = [
        { path: from, text: null, expected: { kind: "text", text }, isEntry: true },
        { path: to, text, expected: { kind: "absent" } },
      ];
      return noted(options, changes, signal, () => files.rename(move, signal));
    },
  };
}

/** What a file shall hold (null: it goes), and what it held. */
type Wanted = {
  readonly path: string;
  readonly text: string | null;
  readonly expected: ExpectedText;
  /** Of a link the link itself is meant, not what it points to. */
  readonly isEntry?: boolean;
};

/** Runs a change of files with what they held kept before and what they hold noted after. */
async function noted<Done extends FileWritten>(
  options: CheckpointedFiles,
  changes: readonly Wanted[],
  signal: AbortSignal,
  change: () => Promise<Done | FileFailure>,
): Promise<Done | FileFailure> {
  await options.settled();
  const begun: Begun[] = [];
  for (const wanted of changes) begun.push(await begin(options, wanted));
  let written: Done | FileFailure | undefined;
  try {
    written = await change();
    return written;
  } finally {
    // Also after a failure: it may have come when the file was changed already.
    for (const [index, { text, expected }] of changes.entries()) {
      const one = begun[index];
      if (one !== undefined) await finish(options, one, { text, expected, written, signal });
    }
  }
}

type Begun = {
  /** The one name that the file has. */
  readonly path: string;
  readonly found: OnDisk;
  readonly kept: FileState | null | "unknown";
  readonly folders: readonly string[];
};

type Outcome = {
  readonly text: string | null;
  readonly expected: ExpectedText;
  readonly written: FileWritten | FileFailure | undefined;
  readonly signal: AbortSignal;
};

async function begin({ store, roots, tell }: CheckpointedFiles, { path, isEntry }: Wanted): Promise<Begun> {
  const name = await (isEntry ? entryName : fileName)(path, roots);
  const found = await lookAt(name);
  const state = stateOf(found);
  let kept: Begun["kept"] = state === undefined || found.kind === "large" ? "unknown" : state;
  const content = contentOf(found);
  if (content !== undefined) {
    kept = await store.put(content).then(
      () => kept,
      (error: unknown) => {
        tell(`${path} is changed without a copy of what it held: ${messageOf(error)}`);
        return "unknown" as const;
      },
    );
  }
  return { path: name, found, kept, folders: found.kind === "absent" ? await missingFolders(name) : [] };
}

async function finish(options: CheckpointedFiles, begun: Begun, outcome: Outcome): Promise<void> {
  const { log, source } = options;
  const { path, kept, folders } = begun;
  const after = await stateAfter(options, path, outcome);
  if (after === undefined) return;
  const before = await stateBefore(options, begun, outcome);
  if (before !== "unknown" && isSameContent(before, after)) return;
  const isNew = kept === null && folders.length > 0;
  log.add({ path, by: "edit", source, before, after, ...(isNew && { folders: [...folders] }) });
}

/** What was on the disk, with the text that the editor held over it. */
async function stateBefore(
  { store, tell }: CheckpointedFiles,
  { path, found, kept }: Begun,
  { expected, written }: Outcome,
): Promise<Begun["kept"]> {
  if (kept === "unknown" || written?.ok !== true || found.kind === "link") return kept;
  const shown = shownBefore(expected, written);
  const onDisk = found.kind === "file" ? textOf(found.bytes) : undefined;
  if (shown === null || shown === onDisk) return kept;
  const unsaved = await store.put(Buffer.from(shown)).catch((error: unknown) => {
    tell(`${path} is changed without a copy of its unsaved text: ${messageOf(error)}`);
    return undefined;
  });
  if (unsaved === undefined) return "unknown";
  return { ...(kept ?? { hash: null, mode: 0 }), unsaved };
}

async function stateAfter(
  { files }: CheckpointedFiles,
  path: string,
  { text, written, signal }: Outcome,
): Promise<FileState | null | undefined> {
  const found = await lookAt(path);
  const state = stateOf(found);
  if (state === undefined || written?.ok !== true) return state;
  const shown = written.review === undefined ? text : written.review.text;
  // An editor may go on showing a file that is gone.
  if (shown === null || (found.kind === "file" && textOf(found.bytes) === shown)) return state;
  // The disk holds something else: the editor has the text, in its own line ends, and has not saved it.
  const read = await files.readText(path, signal).catch(() => undefined);
  if (read?.ok !== true || read.source !== "editor") return state;
  return { ...(state ?? { hash: null, mode: 0 }), unsaved: hashOf(read.text) };
}

/** A review may have waited while the user went on typing. */
function shownBefore(expected: ExpectedText, { review }: FileWritten): string | null {
  if (review?.before !== undefined) return review.before;
  return expected.kind === "text" ? expected.text : null;
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
