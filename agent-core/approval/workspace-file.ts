/**
 * The one reader of files that Hermes reads by itself: instructions, skills, commands, hooks and lists of MCP servers. A file
 * of a workspace counts only inside it, without another name, and when it holds no secrets.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { homeFolder } from "../config/home.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { pathBelow, resolvePath } from "../platform/paths.ts";
import { decodeText } from "../platform/text-file.ts";
import { isSecretName, secretReason } from "./secret-paths.ts";

export type FileLimits = {
  /** Folders (absolute) that the file must lie in, links followed. Default: any. */
  readonly within?: readonly string[] | undefined;
  /** The user's own file, or one of Hermes: programs that manage dot files and packages make links. Default false. */
  readonly isOwn?: boolean;
  /** Default 1 MiB. */
  readonly maxBytes?: number;
};

/** `reason` is a clause about the file; undefined for a missing file and for a folder. */
export type RefusedFile = { readonly ok: false; readonly reason: string | undefined };

/** `path` is real and absolute; `stamp` changes with the file. */
export type FoundFile = { readonly ok: true; readonly path: string; readonly stamp: string };

const MAX_BYTES = 1024 ** 2;

/** Checks a file without reading it. Never throws. */
export function findByItself(path: string, limits: FileLimits): FoundFile | RefusedFile {
  try {
    const real = realpathSync.native(path);
    const stat = statSync(real);
    if (stat.isDirectory()) return { ok: false, reason: undefined };
    const reason = placeReason(path, real, limits) ?? kindReason(stat, limits);
    if (reason !== undefined) return { ok: false, reason };
    return { ok: true, path: real, stamp: `${stat.ino} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.size}` };
  } catch (error) {
    return refusal(error);
  }
}

/** Reads a file as text: UTF-8, or UTF-16 with a byte order mark. Never throws, and never waits for a pipe. */
export function readByItself(path: string, limits: FileLimits): (FoundFile & { readonly text: string }) | RefusedFile {
  const found = findByItself(path, limits);
  if (!found.ok) return found;
  // The path may have become a link since.
  const read = readRegular(found.path, limits, constants.O_NOFOLLOW);
  if (!read.ok) return read;
  const text = decodeText(read.bytes);
  return text === undefined ? { ok: false, reason: "it is not UTF-8 text" } : { ...found, text };
}

/** Bytes of a regular file. Never throws, and never waits for a pipe. */
export function readRegular(
  path: string,
  limits: FileLimits,
  flags = 0,
): { readonly ok: true; readonly bytes: Buffer } | RefusedFile {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags);
    const reason = kindReason(fstatSync(file), limits);
    return reason === undefined ? { ok: true, bytes: readFileSync(file) } : { ok: false, reason };
  } catch (error) {
    return refusal(error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function placeReason(path: string, real: string, { within, isOwn = false }: FileLimits): string | undefined {
  const roots = (within ?? []).map(resolvePath);
  if (within !== undefined && roots.every((root) => pathBelow(root, real) === undefined))
    return `it leads to ${real}, outside ${within.join(" and ")}`;
  if (isOwn) return undefined;
  if (isSecretName(basename(real))) return "such files usually hold keys or passwords";
  const isLink = (within ?? []).every((root, at) => join(roots[at] ?? root, pathBelow(root, path) ?? "..") !== real);
  if (!isLink) return undefined;
  const scope = { cwd: real, roots, home: homedir(), hermesHome: homeFolder(process.env), resolvePath };
  return secretReason(real, scope);
}

function kindReason(stat: Stats, { isOwn = false, maxBytes = MAX_BYTES }: FileLimits): string | undefined {
  if (!stat.isFile()) return "it is not a regular file";
  if (!isOwn && stat.nlink > 1) return "it is a hard link to a file with another name";
  if (stat.size <= maxBytes) return undefined;
  return `it has ${stat.size.toLocaleString("en")} bytes; the limit is ${maxBytes.toLocaleString("en")}`;
}

function refusal(error: unknown): RefusedFile {
  if (hasCode(error, "ENOENT", "ENOTDIR")) return { ok: false, reason: undefined };
  return { ok: false, reason: `it cannot be read: ${messageOf(error)}` };
}
