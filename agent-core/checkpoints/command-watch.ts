/**
 * Logs the changes of commands: scans the workspace before and after a command, and logs each difference with a copy of the
 * earlier content, if there is one. A scan cannot see the writer of a file. Each edit therefore reports its own file, and a
 * difference belongs to the commands that ran since the last scan.
 */
import type { Clock } from "../platform/clock.ts";
import { Deadline } from "../platform/deadline.ts";
import type { FileState } from "../sessions/entry.ts";
import type { ChangeLog } from "./change-log.ts";
import { contentOf, readDiskState, stateOf } from "./disk-state.ts";
import type { GitBlobs } from "./git-blobs.ts";
import type { ObjectStore } from "./object-store.ts";
import { currentSignature, isUnchanged, type Scan, type SeenFile, type WorkspaceScan } from "./workspace-scan.ts";

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

/** A command that runs. */
export type WatchedCommand = {
  /** Source of its changes in the log. */
  readonly source: string;
  /** True for a file that no other command may write. Default: it owns none. */
  readonly owns?: ((path: string) => boolean) | undefined;
};

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
  /** Commands whose changes are logged. */
  readonly #running = new Set<WatchedCommand>();
  #isOff: boolean = false;
  #isClosed: boolean = false;
  /** Scans run one after the other. */
  #scanning: Promise<unknown> = Promise.resolve();
  /** Files that the user saved while commands ran. */
  readonly #saved = new Set<string>();
  /** Files that edits write at the moment, with the number of these edits. */
  readonly #editing = new Map<string, number>();
  /** Signatures of edited files after their last edit, until a scan has found it; undefined for a removed file. */
  readonly #edited = new Map<string, string | undefined>();
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
    return this.#next(async () => {
      if (this.#running.size === 0) await this.#scanAndCopy();
    });
  }

  /**
   * Waits for a scan before a command starts, so that earlier changes are not logged as the command's: they are the user's,
   * or those of the commands that run already.
   */
  async before(command: WatchedCommand): Promise<void> {
    const { position } = this.#options.log;
    await this.#next(async () => {
      try {
        await (this.#running.size === 0 ? this.#scanAndCopy() : this.#logChanges(position));
      } finally {
        this.#running.add(command);
      }
    });
    if (this.#filling === undefined || this.#copyTimeMs === 0) return;
    const deadline = new Deadline(this.#copyTimeMs, this.#options.clock);
    await deadline.waitFor(Promise.race([this.#filling, this.#awaited.spent.promise]));
    this.#copyTimeMs = deadline.remaining();
  }

  /** Logs the changes of a command that ended. The user's next message may arrive before they are logged. */
  after(command: WatchedCommand): Promise<void> {
    const { position } = this.#options.log;
    return this.#next(async () => {
      try {
        await this.#logChanges(position);
      } finally {
        this.#running.delete(command);
      }
    });
  }

  /** Leaves the change of an edit to the edit's own entry of the log. Call the result when the edit has ended. */
  editing(path: string): () => void {
    this.#editing.set(path, (this.#editing.get(path) ?? 0) + 1);
    return () => {
      const others = (this.#editing.get(path) ?? 1) - 1;
      if (others > 0) this.#editing.set(path, others);
      else this.#editing.delete(path);
      this.#edited.set(path, currentSignature(path));
    };
  }

  /** Attributes a change of this file to the user, not to a running command. */
  userSaved(path: string): void {
    this.#saved.add(path);
  }

  /** Stops logging the changes of a command. */
  release(command: WatchedCommand): void {
    this.#running.delete(command);
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
    this.#saved.clear();
    this.#edited.clear();
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

  /** Logs the changes since the last scan as those of the commands that run. */
  async #logChanges(position: number): Promise<void> {
    const commands = [...this.#running];
    const before = this.#known;
    const after = await this.#runScan();
    this.#known = after;
    if (before === undefined || after === undefined || commands.length === 0) return;
    const changed: string[] = [];
    for (const path of differences(before, after)) {
      // The next scan finds the end of the edit.
      if (this.#editing.has(path)) keepKnown(path, before, after);
      else if (!this.#saved.has(path) && !this.#isEdit(path, after)) changed.push(path);
    }
    for (const path of changed.slice(0, MAX_CHANGES)) await this.#logFile(path, { before, after, position }, commands);
    const rest = changed.length - MAX_CHANGES;
    if (rest > 0) {
      this.#options.notifyUser(`A command changed ${changed.length} files; ${rest} of them cannot be reverted.`);
    }
    await this.#copy(after, before);
  }

  /** True when the difference is an edit, which has its own entry in the log. */
  #isEdit(path: string, { files }: Scan): boolean {
    if (!this.#edited.has(path) || this.#edited.get(path) !== files.get(path)?.signature) return false;
    return this.#edited.delete(path);
  }

  async #logFile(path: string, scans: Scans, commands: readonly WatchedCommand[]): Promise<void> {
    const seen = scans.before.files.get(path);
    const isEdited = this.#edited.delete(path);
    const known = seen === undefined ? null : await this.#earlier(path, seen);
    const before = isEdited ? (this.#options.log.lastState(path) ?? null) : known;
    // A folder may be in the file's place.
    const after = scans.after.folders.has(path) ? null : stateOf(await readDiskState(path));
    if (after === undefined) return;
    // The command wrote the same content.
    const isSame = before !== "unknown" && before?.hash === after?.hash && before?.mode === after?.mode;
    if (isSame) return;
    const owner = commands.find(({ owns }) => owns?.(path));
    const [source = "", ...others] = new Set((owner ? [owner] : commands).map((command) => command.source));
    const folders = seen === undefined ? newFolders(path, scans) : [];
    this.#options.log.add({
      path,
      by: "command",
      source,
      before,
      after,
      position: scans.position,
      ...(others.length > 0 && { others }),
      ...(folders.length > 0 && { folders }),
    });
  }

  async #earlier(path: string, seen: SeenFile): Promise<FileState | "unknown"> {
    const hash = await this.#mirror.hashOf(path, seen);
    if (hash === undefined) return "unknown";
    return { hash, mode: seen.mode, ...(seen.isLink && { link: true }) };
  }
}

/** `position`: message in whose answer the commands ran. */
type Scans = { readonly before: Scan; readonly after: Scan; readonly position: number };

/** Leaves a file as the earlier scan saw it. */
function keepKnown(path: string, before: Scan, after: Scan): void {
  const seen = before.files.get(path);
  if (seen === undefined) after.files.delete(path);
  else after.files.set(path, seen);
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
function newFolders(path: string, { before, after }: Scans): string[] {
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
