/** What stands at a path on the disk, whole: contents, links, permissions. */
import { lstat, readFile, readlink } from "node:fs/promises";
import type { DiskEntry } from "../host/host.ts";
import { hasCode } from "../platform/errors.ts";
import type { FileState } from "../sessions/entry.ts";
import { hashOf } from "./object-store.ts";

/** Larger files are noticed when they change, but no copy of them is kept. */
export const MAX_KEPT_BYTES = 20_000_000;
const PERMISSION_BITS = 0o7777;
const BYTE_ORDER_MARK = "\ufeff";

export type OnDisk =
  | { readonly kind: "absent" }
  | DiskEntry
  /** Too large to keep; the mark changes with its content. */
  | { readonly kind: "large"; readonly mark: string; readonly mode: number }
  /** A folder, a device, or what cannot be read. */
  | { readonly kind: "other" };

/** Never rejects: what cannot be read is `other`. */
export async function lookAt(path: string): Promise<OnDisk> {
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

/** Undefined where there is nothing that could be restored or compared. */
export function stateOf(found: OnDisk): FileState | null | undefined {
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

/** What the store keeps of it. */
export function contentOf(found: OnDisk): Buffer | undefined {
  if (found.kind === "file") return found.bytes;
  return found.kind === "link" ? Buffer.from(found.target) : undefined;
}

/** The text as an editor shows it: without byte order mark. Undefined when it is not UTF-8 text. */
export function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  } catch {
    return undefined; // another encoding: treated as bytes
  }
}
