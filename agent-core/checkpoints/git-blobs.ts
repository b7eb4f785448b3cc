/** Reads the workspace's files from the user's git. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { gitLayout } from "../host/git-layout.ts";
import { readGit } from "../host/read-git.ts";
import { streamGit } from "../host/run-git.ts";

/** A content that git has. */
export type GitBlob = {
  /** Id of git's object. */
  readonly git: string;
  /** Folder of the repository's objects and settings, absolute. A work tree that is removed does not take it along. */
  readonly gitFolder: string;
};

/** A tracked file without changes. */
export type TrackedFile = GitBlob & { readonly size: number };

export type GitBlobs = {
  /** Tracked files without changes, by absolute path. */
  unchanged(): Promise<ReadonlyMap<string, TrackedFile>>;
  /** Contents in the order of `blobs`, one at a time, by one process a repository; undefined when git has lost it. */
  read(blobs: readonly GitBlob[]): AsyncGenerator<readonly [GitBlob, Buffer | undefined]>;
};

/** `roots` are absolute folders; one outside a repository has no objects. */
export function gitBlobs(roots: readonly string[]): GitBlobs {
  return {
    async unchanged() {
      const found = await Promise.all(roots.map(unchangedIn));
      return new Map(found.flatMap((files) => [...files]));
    },
    async *read(blobs) {
      for (const [folder, inFolder] of Map.groupBy(blobs, ({ gitFolder }) => gitFolder))
        yield* readIn(folder, inFolder);
    },
  };
}

/** Id that git gives to a content, in the form of the id `like`. */
export function gitIdOf(content: Buffer, like: string): string {
  const hash = createHash(like.length === SHA1_DIGITS ? "sha1" : "sha256");
  return hash.update(`blob ${content.length}\0`).update(content).digest("hex");
}

const SHA1_DIGITS = 40;
/** Time for the contents of all files of a repository, on a slow disk. */
const READ_TIMEOUT_MS = 300_000;

async function* readIn(
  gitFolder: string,
  blobs: readonly GitBlob[],
): AsyncGenerator<readonly [GitBlob, Buffer | undefined]> {
  const input = blobs.map(({ git }) => `${git}\n`).join("");
  // A replacement of an object is another content.
  const args = ["--no-replace-objects", "cat-file", "--batch"];
  const folders = { top: undefined, own: gitFolder, common: gitFolder };
  const output = new PieceReader(streamGit(args, { cwd: gitFolder, folders, input, timeoutMs: READ_TIMEOUT_MS }));
  try {
    for (const blob of blobs) yield [blob, await contentFrom(output, blob)];
  } finally {
    await output.close();
  }
}

/** Parses `id type size<LF>content<LF>`, or `id missing<LF>`. */
async function contentFrom(output: PieceReader, { git }: GitBlob): Promise<Buffer | undefined> {
  const size = / blob (\d+)$/.exec(await output.line())?.[1];
  if (size === undefined) return undefined;
  const content = await output.take(Number(size));
  await output.take(1);
  return content !== undefined && gitIdOf(content, git) === git ? content : undefined;
}

/** Takes lines and counted bytes from an output that arrives in pieces. */
class PieceReader {
  readonly #pieces: AsyncGenerator<Buffer, void>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncGenerator<Buffer, void>) {
    this.#pieces = pieces;
  }

  /** The next line without its end; empty when the output has ended or failed. */
  async line(): Promise<string> {
    let end = this.#rest.indexOf("\n");
    while (end < 0) {
      const piece = await this.#next();
      if (piece === undefined) return "";
      this.#rest = Buffer.concat([this.#rest, piece]);
      end = this.#rest.indexOf("\n");
    }
    const line = this.#rest.toString("utf8", 0, end);
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  /** Undefined when the output ends or fails before. */
  async take(bytes: number): Promise<Buffer | undefined> {
    const taken = [this.#rest];
    for (let size = this.#rest.length; size < bytes; ) {
      const piece = await this.#next();
      if (piece === undefined) return undefined;
      taken.push(piece);
      size += piece.length;
    }
    const all = Buffer.concat(taken);
    this.#rest = all.subarray(bytes);
    return all.subarray(0, bytes);
  }

  async close(): Promise<void> {
    await this.#pieces.return();
  }

  async #next(): Promise<Buffer | undefined> {
    const next = await this.#pieces.next().catch(() => undefined);
    return next?.value ?? undefined;
  }
}

/**
 * Files as they are on the disk: a filter and another encoding may change a content and keep its size. Other conversions
 * change the size.
 */
const UNCONVERTED = ":(attr:!filter !working-tree-encoding)";

async function unchangedIn(root: string): Promise<ReadonlyMap<string, TrackedFile>> {
  const [layout, staged, changed] = await Promise.all([
    gitLayout(root),
    readGit(root, ["ls-files", "--stage", "-v", "-z", "--", UNCONVERTED]),
    readGit(root, ["ls-files", "--modified", "--deleted", "-z"]),
  ]);
  if (layout === undefined || staged === undefined || changed === undefined) return new Map();
  const gitFolder = layout.common;
  const touched = new Set(changed.toString().split("\0"));
  const entries = staged
    .toString()
    .split("\0")
    .flatMap(stagedEntry)
    .filter(({ path }) => !touched.has(path));
  const sizes = await sizesOf(root, [...new Set(entries.map(({ git }) => git))]);
  return new Map(
    entries.flatMap(({ path, git }) => {
      const size = sizes.get(git);
      return size === undefined ? [] : [[join(root, path), { git, gitFolder, size }] as const];
    }),
  );
}

/**
 * Parses `tag mode id stage<TAB>path` for a regular file without a conflict. Git does not compare a file with another tag:
 * the user told it to assume that the file is unchanged.
 */
function stagedEntry(line: string): readonly { readonly path: string; readonly git: string }[] {
  const [, git = "", path = ""] = /^H 100\d{3} ([0-9a-f]{40,64}) 0\t([\s\S]+)$/.exec(line) ?? [];
  return path === "" ? [] : [{ path, git }];
}

async function sizesOf(root: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const format = "--batch-check=%(objectname) %(objectsize)";
  const answer =
    ids.length === 0
      ? undefined
      : await readGit(root, ["--no-replace-objects", "cat-file", format], { input: `${ids.join("\n")}\n` });
  const lines = (answer?.toString() ?? "").split("\n").map((line) => line.split(" "));
  return new Map(lines.flatMap(([id = "", size = ""]) => (/^\d+$/.test(size) ? [[id, Number(size)] as const] : [])));
}
