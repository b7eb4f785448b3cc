/**
 * Edits that another agent makes on the disk by itself. The texts of the workspace are kept before its turn, and what differs
 * afterwards comes up for review like any edit of an agent.
 */
import { readFile, stat } from "node:fs/promises";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { inParallel } from "../../agent-core/platform/in-parallel.ts";
import { KeyedQueue } from "../../agent-core/platform/keyed-queue.ts";
import type { FileEdit } from "../documents/guarded-edit.ts";

/** Limit of files whose text is kept: the first ones of the listing. */
const MAX_FILES = 5_000;
/** Limit of a file whose text is kept: larger ones are rarely edited by hand. Bytes. */
const MAX_FILE_BYTES = 512 * 1024;
/** Limit of all kept texts together. Bytes. */
const MAX_BYTES = 64 * 1024 ** 2;
/** Files that are read at the same time. */
const PARALLEL = 32;
/** Folders that programs fill, whatever the user's own exclusions are. */
const EXCLUDED = "**/{node_modules,.git,.hg,.svn,dist,build,out,target,.venv,__pycache__}/**";

/** Dates of files lag behind the clock: the kernel takes them from its last tick, at most 10 ms ago. Milliseconds. */
const FILE_CLOCK_MS = 10;

/** `text` null: the file is not text, or it is too large. */
type Kept = {
  readonly mtimeMs: number;
  readonly size: number;
  readonly birthtimeMs: number;
  readonly text: string | null;
};

type Noted = { note(edit: FileEdit): Promise<void>; warn(message: string): void };

export class DiskEdits implements vscode.Disposable {
  readonly #noted: Noted;
  /** Undefined while no turn has texts to compare with. */
  #files: Map<string, Kept> | undefined;
  /** Turns that run now. */
  #turns = 0;
  /** Time of the texts. Milliseconds. */
  #begunAt = 0;
  /** One comparison at a time. */
  readonly #queue = new KeyedQueue();
  readonly #subscription: vscode.Disposable;

  /** `note` puts an edit up for review. */
  constructor(noted: Noted) {
    this.#noted = noted;
    // The user's own changes, and those that were written for the agent, are not edits on the disk.
    this.#subscription = vscode.workspace.onDidSaveTextDocument((document) => {
      const { uri } = document;
      if (uri.scheme === "file")
        this.#files?.set(uri.fsPath, { mtimeMs: 0, size: 0, birthtimeMs: 0, text: document.getText() });
    });
  }

  /** Keeps the texts before a turn. Rejects when that fails; then no turn has begun. */
  async begin(): Promise<void> {
    this.#turns += 1;
    try {
      // A turn that begins meanwhile waits, too: its agent must not write before the texts are kept.
      await this.#queue.run("", async () => {
        this.#files ??= await this.#keep(await this.#list());
      });
    } catch (error) {
      this.#turns -= 1;
      throw error;
    }
  }

  /** Puts up what differs since the last comparison. */
  collect(): Promise<void> {
    return this.#queue.run("", () => this.#compare());
  }

  async end(): Promise<void> {
    try {
      await this.collect();
    } finally {
      this.#turns -= 1;
      if (this.#turns === 0) this.#files = undefined;
    }
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  async #list(): Promise<readonly string[]> {
    const found = await vscode.workspace.findFiles("**", EXCLUDED, MAX_FILES + 1);
    if (found.length > MAX_FILES) {
      this.#noted.warn(`only ${MAX_FILES} files are compared for edits that another agent makes by itself`);
    }
    return found.slice(0, MAX_FILES).flatMap(({ scheme, fsPath }) => (scheme === "file" ? [fsPath] : []));
  }

  async #keep(paths: readonly string[]): Promise<Map<string, Kept>> {
    const files = new Map<string, Kept>();
    let bytes = 0;
    this.#begunAt = Date.now();
    await inParallel(paths, PARALLEL, async (path) => {
      const kept = await readKept(path, bytes < MAX_BYTES);
      if (kept === undefined) return;
      bytes += kept.text?.length ?? 0;
      files.set(path, kept);
    });
    return files;
  }

  async #compare(): Promise<void> {
    const before = this.#files;
    if (before === undefined) return;
    const paths = new Set([...before.keys(), ...(await this.#list())]);
    await inParallel(paths, PARALLEL, async (path) => {
      const kept = before.get(path);
      const now = await readKept(path, true, kept);
      if (now === kept) return;
      if (now === undefined) before.delete(path);
      else before.set(path, now);
      // An unknown file that existed before the turn was beyond the limit. Its undo must not remove it.
      if (kept === undefined && now !== undefined && now.birthtimeMs < this.#begunAt - FILE_CLOCK_MS) return;
      const [was, is] = [kept?.text, now?.text];
      // A file that is not text, before or after, has no lines to review.
      if (was === is || was === null || is === null) return;
      await this.#noted.note({ path, before: was ?? null, after: is ?? null }).catch((error: unknown) => {
        // The turn ended well, and the other files come up.
        this.#noted.warn(`could not put ${path} up for review: ${messageOf(error)}`);
      });
    });
  }
}

/** Undefined where there is no file, and the same object for a file that has not changed since. */
async function readKept(path: string, readsText: boolean, kept?: Kept): Promise<Kept | undefined> {
  try {
    const { mtimeMs, size, birthtimeMs } = await stat(path);
    if (kept?.mtimeMs === mtimeMs && kept.size === size) return kept;
    const bytes = readsText && size <= MAX_FILE_BYTES ? await readFile(path) : undefined;
    const text = bytes === undefined || bytes.includes(0) ? null : bytes.toString("utf8").replace(/^\ufeff/, "");
    return { mtimeMs, size, birthtimeMs, text };
  } catch {
    return undefined; // removed meanwhile
  }
}
