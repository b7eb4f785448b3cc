/** Text files of this machine. */
import { readdir, stat } from "node:fs/promises";
import { KeyedQueue } from "../platform/keyed-queue.ts";
import { readDecoded } from "./decode-file.ts";
import { guardedWrite } from "./guarded-write.ts";
import type { HostFiles } from "./host.ts";
import { renameFile } from "./node-file-moves.ts";

export function nodeFiles(): HostFiles {
  /** By path. */
  const writes = new KeyedQueue();
  return {
    async readText(path, signal) {
      const decoded = await readDecoded(path, signal);
      if (!decoded.ok) return decoded;
      const { text, hasMark } = decoded;
      return { ok: true, text, source: "disk", ...(hasMark && { hasMark }) };
    },
    async guardedWrite(write, signal) {
      const written = await writes.run(write.path, () => guardedWrite(write, signal));
      if (!written.ok || written.restore === undefined) return written;
      const { restore } = written;
      return { ...written, restore: () => writes.run(write.path, restore) };
    },
    rename: (move, signal) => writes.run(move.from, () => renameFile(move, signal)),
    async stat(path) {
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) return undefined;
      if (found.isFile()) return { kind: "file", size: found.size };
      return { kind: found.isDirectory() ? "directory" : "other", size: found.size };
    },
    list: (folder) => readdir(folder).catch(() => []),
  };
}
