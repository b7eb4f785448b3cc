/** State of a path: content, link and permissions on the disk, and the text that an editor shows instead. */
import { lstat, readFile, readlink } from "node:fs/promises";
import { withoutMark } from "../host/decode-file.ts";
import type { DiskEntry, HostFiles } from "../host/host.ts";
import { attempt, hasCode } from "../platform/errors.ts";
import type { FileState } from "../sessions/entry.ts";
import { hashOf } from "./object-store.ts";

/** Changes of larger files are logged without a copy. Bytes. */
export const MAX_KEPT_BYTES = 20_000_000;
const PERMISSION_BITS = 0o7777;

export type DiskState =
  | { readonly kind: "absent" }
  | DiskEntry
  /** File that is too large to copy; the mark changes with its content. */
  | { readonly kind: "large"; readonly mark: string; readonly mode: number }
  /** Folder, device, or unreadable path. */
  | { readonly kind: "other" };

/** Never rejects: an unreadable path is `other`. */
export async function readDiskState(path: string): Promise<DiskState> {
  try {
    const found = await lstat(path);
    const mode = found.mode & PERMISSION_BITS;
    if (found.isSymbolicLink()) return { kind: "link", target: await readlink(path), mode };
    if (!found.isFile()) return { kind: "other" };
    if (found.size <= MAX_KEPT_BYTES) return { kind: "file", bytes: await readFile(path), mode };
    return { kind: "large", mark: `large-${found.size}-${found.mtimeMs}`, mode };
  } catch (error) {
    return { kind: hasCode(error, "ENOENT", "ENOTDIR") ? "absent" : "other" };
  }
}

/** State for the journal; undefined for a path that cannot be restored or compared. */
export function stateOf(found: DiskState): FileState | null | undefined {
  switch (found.kind) {
    case "absent":
      return null;
    case "file":
      return { hash: hashOf(found.bytes), mode: found.mode };
    case "link":
      return { hash: hashOf(found.target), mode: found.mode, link: true };
    case "large":
      return { hash: found.mark, mode: found.mode };
    case "other":
      return undefined;
  }
}

export function contentOf(found: DiskState): Buffer | undefined {
  if (found.kind === "file") return found.bytes;
  return found.kind === "link" ? Buffer.from(found.target) : undefined;
}

/** Text without its byte order mark; undefined for bytes that are not UTF-8 text. */
export function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  // Other encodings count as bytes.
  return attempt(() => withoutMark(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)));
}

export type ShownFile = {
  /** Undefined for a path that is not a file. */
  readonly state: FileState | null | undefined;
  readonly found: DiskState;
  /** Text that the user sees; null: no file; undefined: a binary file. */
  readonly text: string | null | undefined;
  readonly isUnsaved: boolean;
};

/** State of a file as the user sees it, with the unsaved text of an editor. */
export async function readShownFile(files: HostFiles, path: string, signal: AbortSignal): Promise<ShownFile> {
  const found = await readDiskState(path);
  const state = stateOf(found);
  const onDisk = textOnDisk(found);
  if (onDisk === undefined) return { state, found, text: undefined, isUnsaved: false };
  const read = await files.readText(path, signal);
  if (!read.ok || read.source !== "editor") return { state, found, text: onDisk, isUnsaved: false };
  const unsaved = hashOf(read.text);
  return { state: { ...(state ?? { hash: null, mode: 0 }), unsaved }, found, text: read.text, isUnsaved: true };
}

function textOnDisk(found: DiskState): string | null | undefined {
  if (found.kind === "absent") return null;
  return found.kind === "file" ? textOf(found.bytes) : undefined;
}
