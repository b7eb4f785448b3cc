/** What the user's git has of the workspace's files: only read, never written, not even its index refreshed. */
import { join } from "node:path";
import { readGit } from "../host/git.ts";

export type Blob = { readonly hash: string; readonly size: number };

export type GitBlobs = {
  /** Tracked files that are as their object says, by absolute path. */
  unchanged(): Promise<ReadonlyMap<string, Blob>>;
  /** Undefined when git does not have it any more. */
  read(hash: string): Promise<Buffer | undefined>;
};

/** `roots` are absolute; one that is in no repository has nothing, and so has a machine without git. */
export function gitBlobs(roots: readonly string[]): GitBlobs {
  /** Repositories to ask for an object. */
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

async function unchangedIn(root: string): Promise<ReadonlyMap<string, Blob>> {
  const [staged, changed] = await Promise.all([
    readGit(root, ["ls-files", "--stage", "-z"]),
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

/** `mode hash stage<TAB>path`; only ordinary files without a conflict. */
function stagedEntry(line: string): readonly { readonly path: string; readonly hash: string }[] {
  const [, hash = "", path = ""] = /^100\d{3} ([0-9a-f]{40,64}) 0\t([\s\S]+)$/.exec(line) ?? [];
  return path === "" ? [] : [{ path, hash }];
}

async function sizesOf(root: string, hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const format = "--batch-check=%(objectname) %(objectsize)";
  const answer = hashes.length === 0 ? undefined : await readGit(root, ["cat-file", format], `${hashes.join("\n")}\n`);
  const lines = (answer?.toString() ?? "").split("\n").map((line) => line.split(" "));
  return new Map(
    lines.flatMap(([hash = "", size = ""]) => (/^\d+$/.test(size) ? [[hash, Number(size)] as const] : [])),
  );
}
