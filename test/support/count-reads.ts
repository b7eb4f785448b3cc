/** Counts how often this process reads files, by replacing the readers of `node:fs`. */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

export type ReadCount = {
  /** Paths in the order in which they were read. */
  readonly paths: readonly string[];
  /** Restores the readers of `node:fs`. */
  stop(): void;
};

export function countReads(): ReadCount {
  const paths: string[] = [];
  const { readFileSync } = fs;
  const { readFile } = fs.promises;
  fs.readFileSync = ((...call: Parameters<typeof readFileSync>) => {
    paths.push(String(call[0]));
    return readFileSync(...call);
  }) as typeof readFileSync;
  fs.promises.readFile = ((...call: Parameters<typeof readFile>) => {
    paths.push(String(call[0]));
    return readFile(...call);
  }) as typeof readFile;
  syncBuiltinESMExports();
  return {
    paths,
    stop() {
      fs.readFileSync = readFileSync;
      fs.promises.readFile = readFile;
      syncBuiltinESMExports();
    },
  };
}
