/** A file as the user sees it: what is on the disk, and the text that the editor holds over it. */
import type { HostFiles } from "../host/host.ts";
import type { FileState } from "../sessions/entry.ts";
import { lookAt, type OnDisk, stateOf, textOf } from "./look.ts";
import { hashOf } from "./object-store.ts";

export type ShownFile = {
  /** Undefined: a folder or something else that is no file. */
  readonly state: FileState | null | undefined;
  readonly found: OnDisk;
  /** What the user reads; null: there is no file; undefined: it is no text. */
  readonly text: string | null | undefined;
  readonly isUnsaved: boolean;
};

export async function showFile(files: HostFiles, path: string, signal: AbortSignal): Promise<ShownFile> {
  const found = await lookAt(path);
  const state = stateOf(found);
  const onDisk = textOn(found);
  if (onDisk === undefined) return { state, found, text: undefined, isUnsaved: false };
  const read = await files.readText(path, signal);
  if (!read.ok || read.source !== "editor") return { state, found, text: onDisk, isUnsaved: false };
  const unsaved = hashOf(read.text);
  return { state: { ...(state ?? { hash: null, mode: 0 }), unsaved }, found, text: read.text, isUnsaved: true };
}

function textOn(found: OnDisk): string | null | undefined {
  if (found.kind === "absent") return null;
  return found.kind === "file" ? textOf(found.bytes) : undefined;
}
