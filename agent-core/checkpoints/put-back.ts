/** Gives one file its earlier content: texts through the Host (so that an editor takes part), anything else on the disk. */
import { randomBytes } from "node:crypto";
import { chmod, mkdir, rename, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FileFailure, FileWrite, HostFiles } from "../host/host.ts";
import { messageOf } from "../platform/errors.ts";
import { isSameContent } from "./change-log.ts";
import { lookAt, stateOf } from "./look.ts";
import type { PlannedFile, Wanted } from "./plan-file.ts";
import type { ShownFile } from "./shown-file.ts";

export type Plan = Extract<PlannedFile, { leftAlone: undefined }>;
type Content = Extract<Wanted, { kind: "content" }>;

/** Gives why it was not done, in words that go on after the path; undefined when it was. */
export async function putBack(plan: Plan, files: HostFiles, signal: AbortSignal): Promise<string | undefined> {
  const { path, wanted, present, folders } = plan;
  try {
    if (wanted.kind === "content") return await putContent(path, wanted, present, { files, signal });
    const failure = await remove(path, present, { files, signal });
    if (failure === undefined) await removeEmpty(folders);
    return failure;
  } catch (error) {
    signal.throwIfAborted();
    return `it could not be written: ${messageOf(error)}`;
  }
}

type Ports = { readonly files: HostFiles; readonly signal: AbortSignal };

async function putContent(
  path: string,
  wanted: Content,
  present: ShownFile,
  { files, signal }: Ports,
): Promise<string | undefined> {
  const { text, state } = wanted;
  if (text === undefined || present.text === undefined) {
    if (!(await isAsShown(path, present))) return CHANGED;
    await writeDisk(path, wanted);
    return undefined;
  }
  if (text !== present.text) {
    const failure = reasonOf(await files.guardedWrite(revertOf(path, text, present), signal));
    if (failure !== undefined) return failure;
  }
  await finishDisk(path, wanted, present.isUnsaved || state.unsaved !== undefined);
  return undefined;
}

/** What a text says nothing of: byte order mark, line ends that an editor has evened out, permissions. */
async function finishDisk(path: string, wanted: Content, isInEditor: boolean): Promise<void> {
  const now = await lookAt(path);
  if (now.kind !== "file") return;
  if (!isInEditor && !now.bytes.equals(wanted.bytes)) await writeDisk(path, wanted);
  else if (wanted.state.hash !== null && now.mode !== wanted.state.mode) await chmod(path, wanted.state.mode);
}

async function remove(path: string, present: ShownFile, { files, signal }: Ports): Promise<string | undefined> {
  if (present.text === undefined) {
    if (!(await isAsShown(path, present))) return CHANGED;
    await rm(path);
    return undefined;
  }
  return reasonOf(await files.guardedWrite(revertOf(path, null, present), signal));
}

const CHANGED = "it was changed at this moment";

async function isAsShown(path: string, { state }: ShownFile): Promise<boolean> {
  const now = stateOf(await lookAt(path));
  return state !== undefined && now !== undefined && isSameContent(now, state);
}

function revertOf(path: string, after: string | null, { text }: ShownFile): FileWrite {
  return { path, expected: text ?? null, after, purpose: "revert" };
}

function reasonOf(written: { readonly ok: true } | FileFailure): string | undefined {
  if (written.ok) return undefined;
  return written.reason === "conflict" ? CHANGED : `it could not be written: ${written.message}`;
}

/** Writes a neighbour and renames it over the path: what is there is whole at every moment. */
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

/** From the innermost out; a folder that holds anything stays, and those around it. */
async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false, // not empty, or gone already
    );
    if (!isGone) return;
  }
}
