/**
 * What commands change: the workspace is scanned before one starts and after it has ended, and what differs is noted
 * with a copy of what was there before, as far as there is one.
 */
import type { FileState } from "../sessions/file-change.ts";
import type { ChangeLog } from "./change-log.ts";
import type { GitBlobs } from "./git-blobs.ts";
import { lookAt, stateOf } from "./look.ts";
import { Mirror } from "./mirror.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Scan, SeenFile, WorkspaceScan } from "./workspace-scan.ts";

/** Before a command starts, copies are made for this long at most; what is left is copied beside it. */
const PATIENCE_MS = 300;
/** More changes of one command are not read and noted one by one. */
const MAX_CHANGES = 2_000;

export type CommandWatchOptions = {
  readonly scan: WorkspaceScan;
  readonly store: ObjectStore;
  readonly git: GitBlobs;
  readonly log: ChangeLog;
  /** Told once, in a line for people, when a workspace cannot be watched. */
  readonly tell: (problem: string) => void;
};

export class CommandWatch {
  readonly #options: CommandWatchOptions;
  readonly #mirror: Mirror;
  /** The workspace as it was last, before or after a command; undefined until it was looked at. */
  #known: Scan | undefined;
  /** Commands whose changes are followed. */
  #running = 0;
  #isOff = false as boolean;
  #isClosed = false as boolean;
  /** One look at the workspace at a time. */
  #looking: Promise<unknown> = Promise.resolve();
  #filling: Promise<void> = Promise.resolve();

  constructor(options: CommandWatchOptions) {
    this.#options = options;
    this.#mirror = new Mirror(options.store, options.git);
  }

  /** Looks at the workspace and begins to copy what has no copy yet. */
  look(): Promise<void> {
    return this.#next(() => this.#look());
  }

  /** To be awaited before a command starts: what the user changed until now is not the command's. */
  async before(): Promise<void> {
    this.#running += 1;
    // Beside a command that runs, what is new may be that one's: it is noted with the first that ends.
    await (this.#running === 1 ? this.look() : this.#looking);
    await Promise.race([this.#filling, pause(PATIENCE_MS)]);
  }

  /** After a command: notes what it changed. */
  after(source: string): Promise<void> {
    this.#running -= 1;
    return this.#next(() => this.#note(source));
  }

  /** A command is not followed any further. */
  release(): void {
    this.#running -= 1;
  }

  /** Settles when everything that has ended is noted. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  /** Ends the copying. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#looking;
    await this.#filling;
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#looking.then(() => (this.#isOff || this.#isClosed ? undefined : work()));
    this.#looking = done.catch(() => undefined); // whoever waits for `done` is told
    return done;
  }

  async #scan(): Promise<Scan | undefined> {
    const scan = await this.#options.scan.scan();
    if (scan !== undefined) return scan;
    this.#isOff = true;
    this.#options.tell(
      "This workspace is too large to watch for what commands change: only the agent's own edits can be taken back.",
    );
    return undefined;
  }

  async #look(): Promise<void> {
    const scan = await this.#scan();
    if (scan === undefined) return;
    this.#known = scan;
    this.#fill(scan);
  }

  #fill(scan: Scan): void {
    const missing = this.#mirror.missing(scan);
    if (missing.length === 0) return;
    this.#filling = this.#filling.then(() => this.#copy(missing, scan));
  }

  async #copy(paths: readonly string[], scan: Scan): Promise<void> {
    for (const path of await this.#mirror.takeFromGit(paths, scan)) {
      // What changed meanwhile is copied with the scan that has seen it.
      if (this.#isClosed || (this.#known !== scan && this.#known?.files.get(path) === undefined)) continue;
      const seen = scan.files.get(path);
      if (seen !== undefined) await this.#mirror.copy(path, seen);
    }
  }

  async #note(source: string): Promise<void> {
    const before = this.#known;
    const after = await this.#scan();
    this.#known = after;
    if (before === undefined || after === undefined) return;
    const changed = [...differences(before, after)];
    for (const path of changed.slice(0, MAX_CHANGES)) await this.#noteFile(path, { before, after }, source);
    const rest = changed.length - MAX_CHANGES;
    if (rest > 0) {
      this.#options.tell(`A command changed ${changed.length} files; ${rest} of them cannot be taken back.`);
    }
    this.#fill(after);
  }

  async #noteFile(path: string, scans: { readonly before: Scan; readonly after: Scan }, source: string): Promise<void> {
    const seen = scans.before.files.get(path);
    const before = seen === undefined ? null : await this.#earlier(path, seen);
    const after = stateOf(await lookAt(path));
    if (after === undefined) return;
    // Written with what was there already.
    const isSame = before !== "unknown" && before?.hash === after?.hash && before?.mode === after?.mode;
    if (isSame) return;
    const folders = seen === undefined ? newFolders(path, scans) : [];
    this.#options.log.add({ path, by: "command", source, before, after, ...(folders.length > 0 && { folders }) });
  }

  async #earlier(path: string, seen: SeenFile): Promise<FileState | "unknown"> {
    const hash = await this.#mirror.hashOf(path, seen);
    if (hash === undefined) return "unknown";
    return { hash, mode: seen.mode, ...(seen.isLink && { link: true }) };
  }
}

function* differences(before: Scan, after: Scan): Generator<string> {
  for (const [path, { signature }] of after.files) {
    if (before.files.get(path)?.signature !== signature) yield path;
  }
  for (const path of before.files.keys()) {
    if (!after.files.has(path)) yield path;
  }
}

/** Folders around a new file that were not there before, the outermost first. */
function newFolders(path: string, { before, after }: { readonly before: Scan; readonly after: Scan }): string[] {
  return [...after.folders]
    .filter((folder) => !before.folders.has(folder) && isAround(folder, path))
    .toSorted((one, other) => one.length - other.length);
}

function isAround(folder: string, path: string): boolean {
  return path.startsWith(folder) && /[\\/]/.test(path[folder.length] ?? "");
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
