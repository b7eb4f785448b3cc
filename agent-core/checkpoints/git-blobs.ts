/** Reads the workspace's files from the user's git. */

import { join } from "node:path";
import { readGit } from "../host/read-git.ts";

export type Blob = { readonly hash: string; readonly size: number };

export type GitBlobs = {
  /** Tracked files without changes, by absolute path. */
  unchanged(): Promise<ReadonlyMap<string, Blob>>;
  /** Content of an object; undefined when git has lost it. */
  read(hash: string): Promise<Buffer | undefined>;
};

/** `roots` are absolute folders; one outside a repository has no objects. */
export function gitBlobs(roots: readonly string[]): GitBlobs {
  /** Repository of each object. */
  const homes = new Map<string, string>();
  return {
    async unchanged() {
      const blobs = new Map<string, Blob>();
      for (const root of roots) {
        for (const [path, blob] of await unchangedIn(root)) {
          blobs.set(path, blob);
          homes.set(blob.hash, root);
        }
      }
      return blobs;
    },
    async read(hash) {
      const root = homes.get(hash);
      return root === undefined ? undefined : readGit(root, ["cat-file", "blob", hash]);
    },
  };
}

/** Files as they are on the disk; a filter may change a content and keep its size. */
const UNFILTERED = ":(attr:!filter)";

async function unchangedIn(root: string): Promise<ReadonlyMap<string, Blob>> {
  const [staged, changed] = await Promise.all([
    readGit(root, ["ls-files", "--stage", "-z", "--", UNFILTERED]),
    readGit(root, ["ls-files", "--modified", "--deleted", "-z"]),
  ]);
  if (staged === undefined || changed === undefined) return new Map();
  const touched = new Set(changed.toString().split("\0"));
  const entries = staged
    .toString()
    .split("\0")
    .flatMap(stagedEntry)
    .filter(({ path }) => !touched.has(path));
  const sizes = await sizesOf(root, [...new Set(entries.map(({ hash }) => hash))]);
  return new Map(
    entries.flatMap(({ path, hash }) => {
      const size = sizes.get(hash);
      return size === undefined ? [] : [[join(root, path), { hash, size }] as const];
    }),
  );
}

/** Parses `mode hash stage<TAB>path` for a regular file without a conflict. */
function stagedEntry(line: string): readonly { readonly path: string; readonly hash: string }[] {
  const [, hash = "", path = ""] = /^100\d{3} ([0-9a-f]{40,64}) 0\t([\s\S]+)$/.exec(line) ?? [];
  return path === "" ? [] : [{ path, hash }];
}

async function sizesOf(root: string, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const format = "--batch-check=%(objectname) %(objectsize)";
  const answer =
    hashes.length === 0 ? undefined : await readGit(root, ["cat-file", format], { input: `${hashes.join("\n")}\n` });
  const lines = (answer?.toString() ?? "").split("\n").map((line) => line.split(" "));
  return new Map(
    lines.flatMap(([hash = "", size = ""]) => (/^\d+$/.test(size) ? [[hash, Number(size)] as const] : [])),
  );
}
