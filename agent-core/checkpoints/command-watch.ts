/**
 * Logs the changes of commands: scans the workspace before and after a command, and logs each difference with the earlier
 * content, if there is a copy or git has it. A scan cannot see the writer of a file. Each edit therefore reports its own file,
 * and a difference belongs to the commands that ran since the last scan.
 */
import type { Clock } from "../platform/clock.ts";
import { Deadline } from "../platform/deadline.ts";
import type { FileState } from "../sessions/entry.ts";
import type { ChangeLog, NewChange } from "./change-log.ts";
import { type DiskState, readDiskState, stateOf } from "./disk-state.ts";
import { type GitBlobs, gitIdOf } from "./git-blobs.ts";
import { type Earlier, type FoundFile, isSmall, Mirror } from "./mirror.ts";
import type { ObjectStore } from "./object-store.ts";
import { differences, isOwn, keepKnown, newFolders, unseenState } from "./scan-differences.ts";
import { currentSignature, type Scan, type WorkspaceScan } from "./workspace-scan.ts";

/** Maximum number of copies that the commands of a session together wait for: a third of a second on an idle machine. */
const AWAITED_FILES = 1_000;
/** The same for the size of these copies. Bytes. */
const AWAITED_BYTES = 20_000_000;
/** Longest wait, for a repository that git lists slowly. Milliseconds. */
const COPY_TIME_MS = 2_000;
/** Changed files that are copied before the next command; more are copied in the background. */
const MAX_COPIED_AT_ONCE = 200;
/** Files that are read at the same time. */
const FILES_AT_ONCE = 32;
/** Longest wait of a command for copies from git of what the commands before it changed. Milliseconds. */
const GIT_COPY_TIME_MS = 5_000;
/** Longest wait for them when the session ends; afterwards the next process copies them. Milliseconds. */
const CLOSE_TIME_MS = 800;
const NAMED_FILES = 5;

const TOO_LARGE = "This workspace is too large to watch commands in it: only the agent's own edits can be reverted.";
const BACKGROUND = "Changes of programs that run in the background cannot be reverted.";
const UNKNOWN = "The changes of a command could not be logged. A restore does not revert them.";

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
  /** Called once with each limit of restores, as a line for the user. */
  readonly notifyUser: (problem: string) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
};

export class CommandWatch {
  readonly #options: CommandWatchOptions;
  readonly #mirror: Mirror;
  /** Last scan of the workspace. */
  #known: Scan | undefined;
  /** Commands whose changes are logged, with the positions at which they began. */
  readonly #running = new Map<WatchedCommand, number>();
  #isOff: boolean = false;
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
  /** Copying of earlier contents from git. */
  #copying: Promise<void> | undefined;
  readonly #closed = new AbortController();
  /** Time that commands wait for copies, together. */
  #copyTimeMs = COPY_TIME_MS;
  /** Lines that the user has seen; those that the model has not seen yet. */
  readonly #told = new Set<string>();
  #untold: string[] = [];
  readonly #named = new Set<string>();
  /** Copies for which commands still wait. */
  readonly #awaited = { files: AWAITED_FILES, bytes: AWAITED_BYTES, spent: Promise.withResolvers<void>() };

  constructor(options: CommandWatchOptions) {
    this.#options = options;
    const { store, git } = options;
    const onFailure = (reason: string): void =>
      this.#tell(
        `Earlier contents of files cannot be stored in ${store.folder}, so changes of commands cannot be reverted: ${reason}`,
      );
    this.#mirror = new Mirror({ store, git, onFailure });
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
    const { log } = this.#options;
    const { position } = log;
    const { source } = command;
    await this.#next(async () => {
      try {
        await (this.#running.size === 0 ? this.#scanAndCopy() : this.#logChanges(position));
      } finally {
        if (!this.#isOff) {
          this.#running.set(command, position);
          log.command({ source, phase: "begin", position });
        }
      }
    });
    if (this.#isOff) log.command({ source, phase: "note", position, lacks: [TOO_LARGE] });
    await this.#waitForCopies();
  }

  /** Logs the changes of a command that ended. The user's next message may arrive before they are logged. */
  after(command: WatchedCommand): Promise<void> {
    const { position } = this.#options.log;
    return this.#next(async () => {
      let lacks: readonly string[] = [UNKNOWN];
      try {
        if (this.#running.has(command)) lacks = await this.#logChanges(position);
      } finally {
        this.#end(command, position, lacks);
      }
    }, true);
  }

  /** Stops logging the changes of a command that runs on in the background. */
  leave(command: WatchedCommand): void {
    this.#tell(BACKGROUND);
    this.#end(command, this.#options.log.position, [BACKGROUND]);
  }

  /** Reports a command whose changes are not logged, as it runs in the background. */
  note({ source }: WatchedCommand): void {
    const { log } = this.#options;
    this.#tell(BACKGROUND);
    log.command({ source, phase: "note", position: log.position, lacks: [BACKGROUND] });
  }

  /** Stops logging the changes of a command that did not start. */
  release(command: WatchedCommand): void {
    this.#end(command, this.#options.log.position, []);
  }

  /** Limits of restores that were found since the last call, one sentence each. */
  takeLimits(): readonly string[] {
    const lines = this.#untold;
    this.#untold = [];
    return lines;
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

  /** Settles once the changes of all ended commands are logged. */
  async settled(): Promise<void> {
    await this.#scanning;
  }

  /** The same for `limitMs` at most. */
  async logged(limitMs: number): Promise<void> {
    await new Deadline(limitMs, this.#options.clock).waitFor(this.#scanning);
  }

  /** Settles once their earlier contents are copied, or `limitMs` have passed. */
  async copied(limitMs: number): Promise<void> {
    await this.#scanning;
    this.#copyFromGit();
    if (this.#copying !== undefined) await new Deadline(limitMs, this.#options.clock).waitFor(this.#copying);
  }

  /** Logs the changes of commands that end now. Ends the copying after a short time. */
  async close(): Promise<void> {
    await this.copied(CLOSE_TIME_MS);
    this.#closed.abort();
    await this.#scanning;
    await Promise.all([this.#filling, this.#copying]);
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** `isLast`: `work` runs even after the end of the session. */
  #next(work: () => Promise<void>, isLast: boolean = false): Promise<void> {
    const done = this.#scanning.then(() => ((this.#isOff || this.#isClosed) && !isLast ? undefined : work()));
    this.#scanning = done.catch(() => undefined); // `done` rejects for its caller
    return done;
  }

  #end(command: WatchedCommand, position: number, lacks: readonly string[]): void {
    if (!this.#running.delete(command)) return;
    this.#options.log.command({ source: command.source, phase: "end", position, lacks });
  }

  /** Shows a line to the user and the model, once. */
  #tell(line: string): void {
    if (this.#told.has(line)) return;
    this.#told.add(line);
    this.#untold.push(line);
    this.#options.notifyUser(line);
  }

  async #waitForCopies(): Promise<void> {
    const { clock } = this.#options;
    if (this.#copying !== undefined) await new Deadline(GIT_COPY_TIME_MS, clock).waitFor(this.#copying);
    if (this.#filling === undefined || this.#copyTimeMs === 0) return;
    const deadline = new Deadline(this.#copyTimeMs, clock);
    await deadline.waitFor(Promise.race([this.#filling, this.#awaited.spent.promise]));
    this.#copyTimeMs = deadline.remaining();
  }

  #copyFromGit(): void {
    const { log } = this.#options;
    const { signal } = this.#closed;
    if (this.#copying !== undefined || log.uncopied.length === 0 || this.#isClosed) return;
    const copy = async (): Promise<void> => {
      for (let left = log.uncopied; left.length > 0; left = log.uncopied) {
        await this.#mirror.copyFromGit(left, (contents) => log.copied(contents), signal);
      }
    };
    this.#copying = copy()
      .catch(() => undefined) // the session ends
      .finally(() => {
        this.#copying = undefined;
      });
  }

  async #runScan(): Promise<Scan | undefined> {
    const scan = await this.#options.scan.scan();
    if (scan !== undefined) return scan;
    this.#isOff = true;
    this.#tell(TOO_LARGE);
    return undefined;
  }

  async #scanAndCopy(): Promise<void> {
    const before = this.#known;
    this.#saved.clear();
    this.#edited.clear();
    this.#copyFromGit();
    const scan = await this.#runScan();
    if (scan === undefined) return;
    this.#known = scan;
    await this.#copy(scan, before);
  }

  /** Copies files that changed since the last scan at once, and all others in the background. */
  async #copy(scan: Scan, before: Scan | undefined): Promise<void> {
    const missing = this.#mirror.missing(scan);
    const isFresh = ({ path, seen }: FoundFile): boolean =>
      isSmall(seen) && before?.files.get(path)?.signature !== seen.signature;
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

  /** Logs the changes since the last scan as those of the commands that run. Gives the limits of a restore of them. */
  async #logChanges(position: number): Promise<readonly string[]> {
    const commands = [...this.#running.keys()];
    const since = Math.min(...this.#running.values());
    const before = this.#known;
    const after = await this.#runScan();
    this.#known = after;
    if (after === undefined) return [TOO_LARGE];
    if (before === undefined || commands.length === 0) return [];
    const changed: string[] = [];
    for (const path of differences(before, after)) {
      // The next scan finds the end of the edit.
      if (this.#editing.has(path)) keepKnown(path, before, after);
      else if (!this.#saved.has(path) && !this.#isEdit(path, after) && isOwn(path, before, after)) changed.push(path);
    }
    const unknown: string[] = [];
    for (let at = 0; at < changed.length; at += FILES_AT_ONCE) {
      const paths = changed.slice(at, at + FILES_AT_ONCE);
      const scans = { before, after, position };
      const changes = await Promise.all(paths.map((path) => this.#changeOf(path, scans, commands)));
      for (const change of changes) unknown.push(...this.#add(change, since));
    }
    this.#copyFromGit();
    await this.#copy(after, before);
    this.#tellOnce("A restore cannot revert the changes of a command in", unknown);
    return this.#outside(before, after);
  }

  /** Names the file when a restore of what happened since the position `since` lacks its earlier content. */
  #add(change: NewChange | undefined, since: number): readonly string[] {
    const { log } = this.#options;
    if (change === undefined) return [];
    log.add(change);
    const isKnown = change.lacks === undefined || log.isRevertible(change.path, since);
    return isKnown ? [] : [`${change.path} (${change.lacks})`];
  }

  /** Limits of a restore of what lies outside of the scans. */
  #outside(before: Scan, after: Scan): readonly string[] {
    const isGone = (path: string): boolean => !after.ignored.has(path) && currentSignature(path) === undefined;
    const deleted = [...before.ignored].filter(isGone);
    return [
      ...this.#tellOnce("A command deleted ignored files, of which there are no copies:", deleted),
      ...this.#tellOnce("A restore does not revert changes of files whose names are not UTF-8:", [...after.misnamed]),
    ];
  }

  /** Tells a line that names files, unless all of them were named before. */
  #tellOnce(start: string, files: readonly string[]): readonly string[] {
    const news = files.filter((file) => !this.#named.has(file));
    if (news.length === 0) return [];
    for (const file of news) this.#named.add(file);
    const rest = news.length - NAMED_FILES;
    const line = `${start} ${news.slice(0, NAMED_FILES).join(", ")}${rest > 0 ? `, and ${rest} more` : ""}.`;
    this.#tell(line);
    return [line];
  }

  /** True when the difference is an edit, which has its own entry in the log. */
  #isEdit(path: string, { files }: Scan): boolean {
    if (!this.#edited.has(path) || this.#edited.get(path) !== files.get(path)?.signature) return false;
    return this.#edited.delete(path);
  }

  async #changeOf(path: string, scans: Scans, commands: readonly WatchedCommand[]): Promise<NewChange | undefined> {
    const seen = scans.before.files.get(path);
    const isLeftOut = seen !== undefined && !scans.after.files.has(path) && currentSignature(path) === seen.signature;
    if (isLeftOut) return undefined; // by new ignore rules
    const isEdited = this.#edited.delete(path);
    // A folder may be in the file's place.
    const disk: DiskState = scans.after.folders.has(path) ? { kind: "absent" } : await readDiskState(path);
    const after = stateOf(disk);
    if (after === undefined) return undefined;
    const known = seen === undefined ? unseenState(path, scans.before) : await this.#mirror.earlier(path, seen);
    const before = isEdited ? (this.#options.log.lastState(path) ?? null) : known;
    if (isSame(before, after, disk)) return undefined; // the command wrote the same content
    const owner = commands.find(({ owns }) => owns?.(path));
    const [source = "", ...others] = new Set((owner ? [owner] : commands).map((command) => command.source));
    const folders = before === null ? newFolders(path, scans.before) : [];
    return {
      path,
      by: "command",
      source,
      ...(before !== null && "lacks" in before ? { before: "unknown", lacks: before.lacks } : { before }),
      after,
      position: scans.position,
      ...(others.length > 0 && { others }),
      ...(folders.length > 0 && { folders }),
    };
  }
}

/** `position`: message in whose answer the commands ran. */
type Scans = { readonly before: Scan; readonly after: Scan; readonly position: number };

function isSame(before: Earlier | null, after: FileState | null, disk: DiskState): boolean {
  if (before === null || after === null) return before === after;
  if ("lacks" in before || before.mode !== after.mode) return false;
  if ("hash" in before) return before.hash === after.hash;
  return disk.kind === "file" && gitIdOf(disk.bytes, before.git) === before.git;
}
