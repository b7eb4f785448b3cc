/**
 * Copies of the workspace's small files, so that changes of commands can be reverted. Filled in the background, each content
 * once. Files without changes in git need no copy: git has their content.
 */
import { contentOf, readDiskState } from "./disk-state.ts";
import type { GitBlobs } from "./git-blobs.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Scan, SeenFile } from "./workspace-scan.ts";

/** Larger files are not copied in advance. Bytes. */
const MAX_FILE_BYTES = 1_000_000;
/** Limit of all copies of a session. Bytes. */
const MAX_BYTES = 200_000_000;

export type FoundFile = { readonly path: string; readonly seen: SeenFile };

/** `none`: copying failed, and is not tried again until the file changes. */
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

  /** Files of the scan without a copy of their present content. */
  missing({ files }: Scan): readonly FoundFile[] {
    return [...files].flatMap(([path, seen]) =>
      this.#copies.get(path)?.signature === seen.signature || !isSmall(seen) ? [] : [{ path, seen }],
    );
  }

  /** Records the files that git has; gives the others. */
  async takeFromGit(files: readonly FoundFile[]): Promise<readonly FoundFile[]> {
    const blobs = await this.#git.unchanged();
    return files.filter(({ path, seen }) => {
      const blob = blobs.get(path);
      // A filter of git (line endings, large file storage) makes the file's size differ from its object's.
      if (blob === undefined || seen.isLink || blob.size !== seen.size) return true;
      this.#copies.set(path, { signature: seen.signature, from: "git", hash: blob.hash });
      return false;
    });
  }

  /** Copies one file. */
  async copy({ path, seen: { signature } }: FoundFile): Promise<void> {
    const content = this.#bytes > MAX_BYTES ? undefined : contentOf(await readDiskState(path));
    this.#bytes += content?.length ?? 0;
    // On a full disk the change of a command cannot be reverted, and the restore says so.
    const hash = content && (await this.#store.put(content).catch(() => undefined));
    this.#copies.set(path, hash === undefined ? { signature, from: "none" } : { signature, from: "store", hash });
  }

  /** Hash of the content that the scan saw; undefined without a copy. */
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
