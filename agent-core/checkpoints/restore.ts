/** Carries out a restore, file by file: each is kept as it is before it changes, and noted when it has changed. */
import type { HostFiles } from "../host/host.ts";
import type { FileState } from "../sessions/entry.ts";
import type { ChangeLog } from "./change-log.ts";
import { missingFolders } from "./checkpointed-files.ts";
import type { ObjectStore } from "./object-store.ts";
import { type PlannedFile, planFile } from "./plan-file.ts";
import { putBack } from "./put-back.ts";
import type { Target } from "./restore-plan.ts";
import { type ShownFile, showFile } from "./shown-file.ts";

/** What became of a file; `leftAlone` says why it is as it was. */
export type RestoredFile = Pick<PlannedFile, "path" | "change" | "added" | "removed"> & {
  readonly leftAlone: string | undefined;
};

export type RestorePorts = { readonly files: HostFiles; readonly store: ObjectStore; readonly log: ChangeLog };

/** `id` names the restore in the journal. Rejects with the signal's reason; what was done until then is noted. */
export async function restoreFiles(
  targets: readonly Target[],
  id: string,
  ports: RestorePorts,
  signal: AbortSignal,
): Promise<readonly RestoredFile[]> {
  const restored: RestoredFile[] = [];
  for (const target of targets) {
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
  const before = await keep(plan.present, store);
  if (before === undefined) {
    return { path, change, added, removed, leftAlone: "no copy of what it holds now could be kept" };
  }
  const folders = plan.wanted.kind === "content" ? await missingFolders(path) : [];
  const leftAlone = await putBack(plan, files, signal);
  const { state } = await showFile(files, path, signal);
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

/** Undefined when it cannot be kept. */
async function keep(
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
    return undefined; // a full disk: rather leave the file alone than lose what it holds
  }
}
