/**
 * Logs the changes of commands: scans the workspace before and after a command, and logs each difference with a copy of the
 * earlier content, if there is one.
 */
import type { Clock } from "../platform/clock.ts";
import { Deadline } from "../platform/deadline.ts";
import type { FileState } from "../sessions/entry.ts";
import type { ChangeLog } from "./change-log.ts";
import { contentOf, readDiskState, stateOf } from "./disk-state.ts";
import type { GitBlobs } from "./git-blobs.ts";
import type { ObjectStore } from "./object-store.ts";
import { isUnchanged, type Scan, type SeenFile, type WorkspaceScan } from "./workspace-scan.ts";

/** Maximum number of copies that the commands of a session together wait for: a third of a second on an idle machine. */
const AWAITED_FILES = 1_000;
/** The same for the size of these copies. Bytes. */
const AWAITED_BYTES = 20_000_000;
/** Longest wait, for a repository that git lists slowly. Milliseconds. */
const COPY_TIME_MS = 2_000;
/** Changed files that are copied before the next command; more are copied in the background. */
const MAX_COPIED_AT_ONCE = 200;
/** Limit of the logged changes of one command. */
const MAX_CHANGES = 2_000;

export type CommandWatchOptions = {
  readonly scan: WorkspaceScan;
  readonly store: ObjectStore;
  readonly git: GitBlobs;
  readonly log: ChangeLog;
  /** Called once with a line for the user when a workspace cannot be watched. */
  readonly notifyUser: (problem: string) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
};

export class CommandWatch {
  readonly #options: CommandWatchOptions;
  readonly #mirror: Mirror;
  /** Last scan of the workspace. */
  #known: Scan | undefined;
  /** Number of commands whose changes are logged. */
  #running = 0;
  #isOff = false as boolean;
  #isClosed = false as boolean;
  /** Scans run one after the other. */
  #scanning: Promise<unknown> = Promise.resolve();
  /** Files that the user saved while commands ran. */
  readonly #saved = new Set<string>();
  /** Files that wait for their copy. */
  readonly #waiting = new Map<string, FoundFile>();
  #filling: Promise<void> | undefined;
  /** Time that commands wait for copies, together. */
  #copyTimeMs = COPY_TIME_MS;
  /** Copies for which commands still wait. */
  readonly #awaited = { files: AWAITED_FILES, bytes: AWAITED_BYTES, spent: Promise.withResolvers<void>() };

  constructor(options: CommandWatchOptions) {
    this.#options = options;
    this.#mirror = new Mirror(options.store, options.git);
  }

  /** Scans the workspace, and starts to copy new and changed files. While a command runs, the scan at its end does that. */
  scan(): Promise<void> {
    return this.#running > 0 ? this.settled() : this.#next(() => this.#scanAndCopy());
  }

  /** Waits for a scan before a command starts, so that earlier changes of the user are not logged as the command's. */
  async before(): Promise<void> {
    if (this.#running === 0) this.#saved.clear();
    this.#running += 1;
    // Changes while another command runs may be its own: they are logged with the first command that ends.
    await (this.#running === 1 ? this.#next(() => this.#scanAndCopy()) : this.#scanning);
    if (this.#filling === undefined || this.#copyTimeMs === 0) return;
    const deadline = new Deadline(this.#copyTimeMs, this.#options.clock);
    await deadline.waitFor(Promise.race([this.#filling, this.#awaited.spent.promise]));
    this.#copyTimeMs = deadline.remaining();
  }

  /** Logs the changes of a command that ended. */
  after(source: string): Promise<void> {
    this.#running -= 1;
    return this.#next(() => this.#logChanges(source));
  }

  /** Attributes a change of this file to the user, not to a running command. */
  userSaved(path: string): void {
    this.#saved.add(path);
  }

  /** Stops logging the changes of a command. */
  release(): void {
    this.#running -= 1;
  }

  /** Settles once the changes of all ended commands are logged. */
  async settled(): Promise<void> {
    await this.#scanning;
  }

  /** Ends the copying. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#scanning;
    await this.#filling;
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#scanning.then(() => (this.#isOff || this.#isClosed ? undefined : work()));
    this.#scanning = done.catch(() => undefined); // `done` rejects for its caller
    return done;
  }

  async #runScan(): Promise<Scan | undefined> {
    const scan = await this.#options.scan.scan();
    if (scan !== undefined) return scan;
    this.#isOff = true;
    this.#options.notifyUser(
      "This workspace is too large to watch commands in it: only the agent's own edits can be reverted.",
    );
    return undefined;
  }

  async #scanAndCopy(): Promise<void> {
    const before = this.#known;
    const scan = await this.#runScan();
    if (scan === undefined) return;
    this.#known = scan;
    await this.#copy(scan, before);
  }

  /** Copies files that changed since the last scan at once, and all others in the background. */
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
      if (!isCurrent(file)) continue;
      await this.#mirror.copy(file);
      this.#countCopy(file);
    }
    for (const file of batch.filter(isCurrent)) this.#waiting.delete(file.path);
  }

  #countCopy({ seen }: FoundFile): void {
    const { spent } = this.#awaited;
    this.#awaited.files -= 1;
    this.#awaited.bytes -= seen.size;
    if (this.#awaited.files <= 0 || this.#awaited.bytes <= 0) spent.resolve();
  }

  async #logChanges(source: string): Promise<void> {
    const before = this.#known;
    const after = await this.#runScan();
    this.#known = after;
    if (before === undefined || after === undefined) return;
    const changed = [...differences(before, after)].filter((path) => !this.#saved.has(path));
    for (const path of changed.slice(0, MAX_CHANGES)) await this.#logFile(path, { before, after }, source);
    const rest = changed.length - MAX_CHANGES;
    if (rest > 0) {
      this.#options.notifyUser(`A command changed ${changed.length} files; ${rest} of them cannot be reverted.`);
    }
    await this.#copy(after, before);
  }

  async #logFile(path: string, scans: { readonly before: Scan; readonly after: Scan }, source: string): Promise<void> {
    const seen = scans.before.files.get(path);
    const before = seen === undefined ? null : await this.#earlier(path, seen);
    const after = stateOf(await readDiskState(path));
    if (after === undefined) return;
    // The command wrote the same content.
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

/** Folders that were created for a new file, the outermost first. */
function newFolders(path: string, { before, after }: { readonly before: Scan; readonly after: Scan }): string[] {
  return [...after.folders]
    .filter((folder) => !before.folders.has(folder) && isAround(folder, path))
    .toSorted((one, other) => one.length - other.length);
}

function isAround(folder: string, path: string): boolean {
  return path.startsWith(folder) && /[\\/]/.test(path[folder.length] ?? "");
}

/** Larger files are not copied in advance. Bytes. */
const MAX_FILE_BYTES = 1_000_000;
/** Limit of all copies of a session. Bytes. */
const MAX_BYTES = 200_000_000;

type FoundFile = { readonly path: string; readonly seen: SeenFile };

/** `none`: copying failed, and is not tried again until the file changes. */
type Copy =
  | { readonly signature: string; readonly from: "store" | "git"; readonly hash: string }
  | { readonly signature: string; readonly from: "none" };

/**
 * Copies of the workspace's small files, so that changes of commands can be reverted. Filled in the background, each content
 * once. Files without changes in git need no copy: git has their content.
 */
class Mirror {
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

  /** Copies one file, unless a command has changed it since the scan. */
  async copy({ path, seen }: FoundFile): Promise<void> {
    const { signature } = seen;
    const read = this.#bytes > MAX_BYTES ? undefined : contentOf(await readDiskState(path));
    const content = isUnchanged(path, seen) ? read : undefined;
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
