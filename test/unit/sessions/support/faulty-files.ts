/** The system's files, any operation of which can be made to fail as a disk does. */
import { writeSync } from "node:fs";
import { type JournalFiles, systemFiles } from "../../../../agent-core/sessions/line-file.ts";

export type Operation = keyof JournalFiles;
export type ErrorCode = "ENOSPC" | "EIO" | "EROFS" | "EACCES" | "EDQUOT";
/** An error of the system, or only a part of what was asked for. */
export type Fault = ErrorCode | "short";

export function systemError(code: ErrorCode, operation: Operation): Error {
  return Object.assign(new Error(`${code}: injected, ${operation}`), { code });
}

/**
 * `next` says before each operation whether it fails. A write that fails may have written a part; a sync that fails
 * has lost what was not synced before, as Linux does it: those bytes are overwritten with zeros.
 */
export function faultyFiles(next: (operation: Operation) => Fault | undefined): JournalFiles {
  let unsynced: { readonly start: number; readonly end: number }[] = [];
  const check = (operation: Operation): void => {
    const fault = next(operation);
    if (fault !== undefined && fault !== "short") throw systemError(fault, operation);
  };
  return {
    makeFolder(path) {
      check("makeFolder");
      systemFiles.makeFolder(path);
    },
    open(path) {
      check("open");
      return systemFiles.open(path);
    },
    identityAt: systemFiles.identityAt,
    identityOf: systemFiles.identityOf,
    size(descriptor) {
      check("size");
      return systemFiles.size(descriptor);
    },
    read(descriptor, bytes, position) {
      const fault = next("read");
      if (fault !== undefined && fault !== "short") throw systemError(fault, "read");
      const length = fault === "short" ? Math.ceil(bytes.length / 2) : bytes.length;
      return systemFiles.read(descriptor, bytes.subarray(0, length), position);
    },
    write(descriptor, bytes, position) {
      const fault = next("write");
      const length = fault === undefined ? bytes.length : Math.ceil(bytes.length / 2);
      const count = systemFiles.write(descriptor, bytes.subarray(0, length), position);
      unsynced.push({ start: position, end: position + count });
      if (fault !== undefined && fault !== "short") throw systemError(fault, "write");
      return count;
    },
    truncate(descriptor, length) {
      check("truncate");
      systemFiles.truncate(descriptor, length);
    },
    async sync(descriptor) {
      const fault = next("sync");
      const lost = unsynced;
      unsynced = [];
      if (fault === undefined || fault === "short") return systemFiles.sync(descriptor);
      const size = systemFiles.size(descriptor);
      for (const { start, end } of lost) {
        const length = Math.max(0, Math.min(end, size) - start);
        writeSync(descriptor, Buffer.alloc(length), 0, length, start);
      }
      throw systemError(fault, "sync");
    },
    close(descriptor) {
      systemFiles.close(descriptor);
      check("close");
    },
  };
}
