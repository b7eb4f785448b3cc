/** Small files with settings, which users and other processes change at any time. */
import { readFileSync, statSync } from "node:fs";

/** A longer file holds no settings. Bytes. */
const MAX_BYTES = 1024 ** 2;

/** Undefined when there is no file. Each write makes another inode, and a time alone is too coarse. */
export function fileVersion(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat?.isFile() ? `${stat.ino}:${stat.mtimeNs}:${stat.size}` : undefined;
}

/** Text of a file that exists. Throws an Error in one line for a file that is too large or cannot be read. */
export function readSettings(path: string): string {
  const bytes = readFileSync(path);
  if (bytes.length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
  return bytes.toString("utf8");
}
