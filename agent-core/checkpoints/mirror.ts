/**
 * Copies of the workspace's small files, so that what a command changes can be put back. Filled in the background, each
 * content once; files that git has unchanged need none: git's own objects are read when one is asked for.
 */

import type { GitBlobs } from "./git-blobs.ts";
import { contentOf, lookAt } from "./look.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Scan, SeenFile } from "./workspace-scan.ts";

/** Larger files are not copied in advance. */
const MAX_FILE_BYTES = 1_000_000;
/** All copies of a session together. */
const MAX_BYTES = 200_000_000;

export type FoundFile = { readonly path: string; readonly seen: SeenFile };

/** `none`: it could not be copied, and is not tried again while it stays as it is. */
type Copy =
  | { readonly signature: string; readonly from: "store" | "git"; readonly hash: string }
  | { readonly signature: string; readonly from: "none" };

export class Mirror {
  readonly #store: ObjectStore;
  readonly #git: GitBlobs;
  readonly #copies = new Map<string, Copy>();
  #bytes = 0;

  constructor(store: ObjectStore, git: GitBlobs) {
    this.#store = store;
    this.#git = git;
  }

  /** Files of the scan that have no copy, or one of something older. */
  missing({ files }: Scan): readonly FoundFile[] {
    return [...files].flatMap(([path, seen]) =>
      this.#copies.get(path)?.signature === seen.signature || !isSmall(seen) ? [] : [{ path, seen }],
    );
  }

  /** Takes over what git has of these files, unchanged; gives those it has not. */
  async takeFromGit(files: readonly FoundFile[]): Promise<readonly FoundFile[]> {
    const blobs = await this.#git.unchanged();
    return files.filter(({ path, seen }) => {
      const blob = blobs.get(path);
      // A file that a filter of git's wrote (line ends, large file storage) has another size than its object.
      if (blob === undefined || seen.isLink || blob.size !== seen.size) return true;
      this.#copies.set(path, { signature: seen.signature, from: "git", hash: blob.hash });
      return false;
    });
  }

  /** Copies one file. */
  async copy({ path, seen: { signature } }: FoundFile): Promise<void> {
    const content = this.#bytes > MAX_BYTES ? undefined : contentOf(await lookAt(path));
    this.#bytes += content?.length ?? 0;
    // A full disk: what a command changes there cannot be put back, and the restore says so.
    const hash = content && (await this.#store.put(content).catch(() => undefined));
    this.#copies.set(path, hash === undefined ? { signature, from: "none" } : { signature, from: "store", hash });
  }

  /** The hash, in the store, of what the file held when it was seen; undefined when there is no copy of that. */
  async hashOf(path: string, seen: SeenFile): Promise<string | undefined> {
    const copy = this.#copies.get(path);
    if (copy === undefined || copy.signature !== seen.signature || copy.from === "none") return undefined;
    if (copy.from === "store") return (await this.#store.has(copy.hash)) ? copy.hash : undefined;
    const content = await this.#git.read(copy.hash);
    return content && content.length === seen.size ? this.#store.put(content) : undefined;
  }
}

function isSmall({ size, isLink }: SeenFile): boolean {
  return isLink || size <= MAX_FILE_BYTES;
}
