/**
 * What commands change: the workspace is scanned before one starts and after it has ended, and what differs is noted
 * with a copy of what was there before, as far as there is one.
 */
import { Deadline } from "../platform/deadline.ts";
import type { FileState } from "../sessions/entry.ts";
import type { ChangeLog } from "./change-log.ts";
import type { GitBlobs } from "./git-blobs.ts";
import { lookAt, stateOf } from "./look.ts";
import { type FoundFile, Mirror } from "./mirror.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Scan, SeenFile, WorkspaceScan } from "./workspace-scan.ts";

/** The commands of a session together wait this long for the copies. */
const COPY_TIME_MS = 300;
/** So many changed files are copied at once, before a command may change them again; more are copied beside it. */
const MAX_COPIED_AT_ONCE = 200;
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
  /** What the user saved while commands ran. */
  readonly #saved = new Set<string>();
  /** Files that wait for their copy. */
  readonly #waiting = new Map<string, FoundFile>();
  #filling: Promise<void> | undefined;
  /** Rest of the time that commands wait. */
  #copyTimeMs = COPY_TIME_MS;

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
    if (this.#running === 0) this.#saved.clear();
    this.#running += 1;
    // Beside a command that runs, what is new may be that one's: it is noted with the first that ends.
    await (this.#running === 1 ? this.look() : this.#looking);
    if (this.#filling === undefined || this.#copyTimeMs === 0) return;
    const deadline = new Deadline(this.#copyTimeMs);
    await deadline.waitFor(this.#filling);
    this.#copyTimeMs = deadline.remaining();
  }

  /** After a command: notes what it changed. */
  after(source: string): Promise<void> {
    this.#running -= 1;
    return this.#next(() => this.#note(source));
  }

  /** The user saved this file: if a command runs, it is not that one's. */
  userSaved(path: string): void {
    this.#saved.add(path);
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
    const before = this.#known;
    const scan = await this.#scan();
    if (scan === undefined) return;
    this.#known = scan;
    await this.#copy(scan, before);
  }

  /** Copies what is new since the last look at once, and the rest, or a great many, beside what goes on. */
  async #copy(scan: Scan, before: Scan | undefined): Promise<void> {
    const missing = this.#mirror.missing(scan);
    const isFresh = ({ path, seen }: FoundFile): boolean => before?.files.get(path)?.signature !== seen.signature;
    const fresh = before === undefined ? [] : missing.filter(isFresh);
    const atOnce = new Set(fresh.length > MAX_COPIED_AT_ONCE ? [] : fresh);
    await Promise.all([...atOnce].map((file) => this.#mirror.copy(file)));
    for (const file of missing) if (!atOnce.has(file)) this.#waiting.set(file.path, file);
    if (this.#waiting.size > 0) this.#filling ??= this.#fill();
  }

  async #fill(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isClosed) await this.#fillBatch([...this.#waiting.values()]);
    this.#filling = undefined;
  }

  async #fillBatch(batch: readonly FoundFile[]): Promise<void> {
    // Another scan may have seen a file change meanwhile.
    const isCurrent = (file: FoundFile): boolean => !this.#isClosed && this.#waiting.get(file.path) === file;
    for (const file of await this.#mirror.takeFromGit(batch)) {
      if (isCurrent(file)) await this.#mirror.copy(file);
    }
    for (const file of batch.filter(isCurrent)) this.#waiting.delete(file.path);
  }

  async #note(source: string): Promise<void> {
    const before = this.#known;
    const after = await this.#scan();
    this.#known = after;
    if (before === undefined || after === undefined) return;
    const changed = [...differences(before, after)].filter((path) => !this.#saved.has(path));
    for (const path of changed.slice(0, MAX_CHANGES)) await this.#noteFile(path, { before, after }, source);
    const rest = changed.length - MAX_CHANGES;
    if (rest > 0) {
      this.#options.tell(`A command changed ${changed.length} files; ${rest} of them cannot be taken back.`);
    }
    await this.#copy(after, before);
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
