/**
 * Copies of the workspace's files, so that changes of commands can be reverted. Filled in the background, each content once.
 * Files without changes in git need no copy before they change: git has their content.
 */
import { messageOf } from "../platform/errors.ts";
import { inParallel } from "../platform/in-parallel.ts";
import type { FileState } from "../sessions/entry.ts";
import type { CopiedBlob } from "./change-log.ts";
import { contentOf, MAX_KEPT_BYTES, readDiskState } from "./disk-state.ts";
import type { GitBlob, GitBlobs } from "./git-blobs.ts";
import { hashOf, type ObjectStore } from "./object-store.ts";
import { isUnchanged, type Scan, type SeenFile } from "./workspace-scan.ts";

/** Larger files are not copied in advance. git may have them, but never an ignored one, such as a small database. Bytes. */
const MAX_FILE_BYTES = 1_000_000;
const MAX_IGNORED_BYTES = 5_000_000;
/** Limit of all copies of a session. Bytes. */
const MAX_BYTES = 200_000_000;
/** Contents that are read from git and stored at the same time. */
const CONTENTS_AT_ONCE = 8;
/** Contents that one entry of the journal names. */
const REPORTED_AT_ONCE = 100;

export type FoundFile = { readonly path: string; readonly seen: SeenFile };

/** `none`: there is no copy, and copying is not tried again until the file changes. */
type Copy =
  | { readonly signature: string; readonly from: "store"; readonly hash: string }
  | { readonly signature: string; readonly from: "git"; readonly blob: GitBlob }
  | { readonly signature: string; readonly from: "none"; readonly lacks: string };

/** State of a file before a command; `lacks`: reason why its content is unknown. */
export type Earlier = FileState | (GitBlob & { readonly mode: number }) | { readonly lacks: string };

export type MirrorOptions = {
  readonly store: ObjectStore;
  readonly git: GitBlobs;
  /** Called when a copy cannot be stored. */
  readonly onFailure: (reason: string) => void;
};

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #copies = new Map<string, Copy>();
  #bytes = 0;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** Files of the scan without a copy of their present content. */
  missing({ files }: Scan): readonly FoundFile[] {
    return [...files].flatMap(([path, seen]) =>
      this.#copies.get(path)?.signature === seen.signature ? [] : [{ path, seen }],
    );
  }

  /** Records the files that git has; gives the others. */
  async takeFromGit(files: readonly FoundFile[]): Promise<readonly FoundFile[]> {
    const blobs = await this.#options.git.unchanged();
    return files.filter(({ path, seen }) => {
      const blob = blobs.get(path);
      // A filter of git (line endings, large file storage) makes the file's size differ from its object's.
      if (blob === undefined || seen.isLink || blob.size !== seen.size || seen.size > MAX_KEPT_BYTES) return true;
      const { git, gitFolder } = blob;
      this.#copies.set(path, { signature: seen.signature, from: "git", blob: { git, gitFolder } });
      return false;
    });
  }

  /** Copies one file, unless it is too large, or a command has changed it since the scan. */
  async copy(file: FoundFile): Promise<void> {
    const copied = await this.#copyOf(file);
    const { signature } = file.seen;
    const copy: Copy =
      "hash" in copied ? { signature, from: "store", ...copied } : { signature, from: "none", ...copied };
    this.#copies.set(file.path, copy);
  }

  /** State that the scan saw. */
  async earlier(path: string, seen: SeenFile): Promise<Earlier> {
    const copy = this.#copies.get(path);
    if (copy === undefined || copy.signature !== seen.signature) return { lacks: reasonOf(seen) };
    if (copy.from === "none") return { lacks: copy.lacks };
    const { mode } = seen;
    if (copy.from === "store") {
      if (!(await this.#options.store.has(copy.hash))) return { lacks: "the copy of its earlier content is gone" };
      return { hash: copy.hash, mode, ...(seen.isLink && { link: true }) };
    }
    return { ...copy.blob, mode };
  }

  /** Copies contents of git into the store. `onCopied` gets them in parts. Rejects with the signal's reason. */
  async copyFromGit(
    blobs: readonly GitBlob[],
    onCopied: (contents: ReadonlyMap<string, CopiedBlob>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let done = new Map<string, CopiedBlob>();
    const report = (): void => {
      onCopied(done);
      done = new Map();
    };
    try {
      await inParallel(this.#options.git.read(blobs), CONTENTS_AT_ONCE, async ([{ git }, content]) => {
        signal.throwIfAborted();
        const stored = content && (await this.#put(content));
        done.set(git, { hash: stored ?? (content && hashOf(content)), isStored: stored !== undefined });
        if (done.size >= REPORTED_AT_ONCE) report();
      });
    } finally {
      report();
    }
  }

  async #copyOf({ path, seen }: FoundFile): Promise<{ readonly hash: string } | { readonly lacks: string }> {
    if (!isSmall(seen)) return { lacks: reasonOf(seen) };
    if (this.#bytes > MAX_BYTES) return { lacks: "the copies of this session reached their limit of 200 MB" };
    const content = contentOf(await readDiskState(path));
    if (content === undefined || !isUnchanged(path, seen)) return { lacks: reasonOf(seen) };
    this.#bytes += content.length;
    const hash = await this.#put(content);
    return hash === undefined ? { lacks: "its earlier content could not be stored" } : { hash };
  }

  /** Undefined when the content cannot be stored, as on a full disk. */
  async #put(content: Buffer): Promise<string | undefined> {
    try {
      return await this.#options.store.put(content);
    } catch (error) {
      this.#options.onFailure(messageOf(error));
      return undefined;
    }
  }
}

/** True for a file that is copied even if git does not have it. */
export function isSmall({ size, isLink, ignored }: SeenFile): boolean {
  return isLink || size <= (ignored === undefined ? MAX_FILE_BYTES : MAX_IGNORED_BYTES);
}

function reasonOf(seen: SeenFile): string {
  return isSmall(seen)
    ? "a command changed it before it was copied"
    : `it was too large to copy (over ${seen.ignored === undefined ? 1 : 5} MB)`;
}
