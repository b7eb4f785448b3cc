/** Checkpoints of a session: a Host that logs file changes, the preview of a restore, and the restore itself. */
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Host } from "../host/host.ts";
import type { CommandExit, HostTerminals } from "../host/terminals/terminals.ts";
import type { Clock } from "../platform/clock.ts";
import { mapInParallel } from "../platform/in-parallel.ts";
import { newId } from "../platform/new-id.ts";
import type { FileChange, StoredDiff, TextDiff } from "../sessions/entry.ts";
import { ChangeLog, type ChangeLogOptions } from "./change-log.ts";
import { checkpointedFiles } from "./checkpointed-files.ts";
import { CommandWatch, type WatchedCommand } from "./command-watch.ts";
import { type GitBlobs, gitBlobs } from "./git-blobs.ts";
import { hashOf, ObjectStore } from "./object-store.ts";
import type { RestorePorts } from "./restore.ts";
import type { LineCounter, ShownPlan } from "./restore-plan.ts";
import { changesAfter, type Target, targetsAt, targetsBefore, targetsOfCall } from "./restore-targets.ts";
import { WorkspaceScan } from "./workspace-scan.ts";

export type CheckpointsOptions = ChangeLogOptions & {
  readonly host: Host;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** Folder of the objects, absolute, in the folder of the agent's own files. */
  readonly objects: string;
  /** False for an untrusted workspace, in which nothing is written and no command runs. */
  readonly trusted: () => boolean;
  /** Limit of files in a workspace whose commands are watched; default 20,000. */
  readonly maxFiles?: number;
  /** Time from the start of a turn to the scan of the workspace, in milliseconds; default 0. */
  readonly lookDelayMs?: number;
  readonly onlyReads: (command: string, folder: string) => Promise<boolean>;
  /** Called with a line for people. */
  readonly notifyUser: (problem: string) => void;
  readonly onDefect: (message: string) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
};

/** The journal keeps the texts of smaller diffs itself. Characters. */
const MAX_JOURNAL_CHARS = 8_000;
/** Files that a preview reads at the same time. */
const FILES_AT_ONCE = 16;
/** Longest wait of a restore and its preview for copies from git. Milliseconds. */
const COPY_TIME_MS = 30_000;
const IGNORED = "Changes of ignored files and of programs in the background are not recorded.";

/** Result of a restore; `id` is for its undo. */
export type Restored = { readonly id: string; readonly files: readonly ShownPlan[] };

export type SourcePorts = {
  readonly onChange?: (change: FileChange) => void;
  /** True for a file that no other source may write. Default: it owns none. */
  readonly owns?: (path: string) => boolean;
};

export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #log: ChangeLog;
  readonly #store: ObjectStore;
  readonly #watch: CommandWatch;
  readonly #git: GitBlobs;
  /** Settles when the log of an interrupted restore is complete. */
  #completed: Promise<void> | undefined;
  #nextScan: NodeJS.Timeout | undefined;
  /** Settles when the texts of all diffs are stored. */
  #storing: Promise<unknown> = Promise.resolve();

  constructor(options: CheckpointsOptions) {
    const { roots, objects, maxFiles, notifyUser, clock } = options;
    this.#git = gitBlobs(roots);
    this.#options = options;
    this.#log = new ChangeLog(options);
    this.#store = new ObjectStore(objects);
    this.#watch = new CommandWatch({
      scan: new WorkspaceScan(roots, dirname(objects), maxFiles),
      store: this.#store,
      git: this.#git,
      log: this.#log,
      notifyUser,
      ...(clock && { clock }),
    });
  }

  /** Restore that a crash interrupted; the same restore again completes it, and its undo reverts it. */
  get interrupted(): { readonly position: number } | undefined {
    const { interrupted } = this.#log;
    return interrupted && { position: interrupted.position };
  }

  get lastRestore(): string | undefined {
    return this.#log.lastRestore;
  }

  /** Host for one tool call or sub-agent, which copies and logs all changes. */
  hostFor(source: string, { onChange, owns }: SourcePorts = {}): Host {
    if (onChange !== undefined) this.#log.watch(source, onChange);
    const { host, roots, onlyReads, onDefect, notifyUser } = this.#options;
    return {
      ...host,
      files: checkpointedFiles({
        files: host.files,
        store: this.#store,
        log: this.#log,
        roots,
        source,
        settled: () => this.#watch.settled(),
        editing: (path) => this.#watch.editing(path),
        storeLater: (content) => void this.#storeLater(content),
        notifyUser,
      }),
      terminals: checkpointedTerminals({
        terminals: host.terminals,
        watch: this.#watch,
        onlyReads,
        onDefect,
        source,
        owns,
      }),
    };
  }

  /** Scans the workspace in the background of a new turn. A command that starts earlier scans it first. */
  beginTurn(): void {
    const { trusted, onDefect, lookDelayMs = 0 } = this.#options;
    if (!trusted()) return;
    const scan = (): void => {
      this.#watch.scan().catch((error: unknown) => onDefect(`The workspace cannot be watched: ${String(error)}`));
    };
    clearTimeout(this.#nextScan);
    if (lookDelayMs === 0) scan();
    else this.#nextScan = setTimeout(scan, lookDelayMs).unref();
  }

  /** Attributes a save in the editor to the user, even while a command runs. `path` is absolute. */
  userSaved(path: string): void {
    this.#watch.userSaved(path);
  }

  /** Id of the tool call that edited `path` (absolute) last; undefined when no tool call edited it. */
  lastEditor(path: string): string | undefined {
    return this.#log.changes.findLast((change) => change.path === path && change.by === "edit")?.source;
  }

  /** Number of files that were changed in answer to the message at this position, or later. */
  countSince(position: number): number {
    return new Set(changesAfter(this.#log.changes, position).map(({ path }) => path)).size;
  }

  /** Plan of a restore to the state before the message at `position`. */
  async preview(position: number, withTexts: boolean, signal: AbortSignal): Promise<readonly ShownPlan[]> {
    await this.#settled(signal);
    const { LineCounter, planFile, shownPlan } = await import("./restore-plan.ts");
    const ports = this.#ports(new LineCounter());
    const targets = targetsAt(this.#log.changes, position);
    const planned = await mapInParallel(targets, FILES_AT_ONCE, async (target) => {
      const plan = await planFile(target, ports, signal);
      return plan && shownPlan(plan, withTexts);
    });
    return planned.filter((file) => file !== undefined);
  }

  /**
   * Limits of a restore to the state before the message at `position`, one sentence each; empty when no command ran since.
   * Changes without a trace are among them only when `isEmpty`, as the preview shows nothing else then.
   */
  limitsSince(position: number, isEmpty: boolean): readonly string[] {
    const limits = this.#log.limitsSince(position);
    return limits?.length === 0 && isEmpty ? [IGNORED] : (limits ?? []);
  }

  /** Restores the files to their state before the message at `position`. */
  async restore(position: number, signal: AbortSignal): Promise<Restored> {
    await this.#settled(signal);
    return this.#restore(targetsAt(this.#log.changes, position), position, signal);
  }

  /** Restores the files to their state before a restore. */
  async undo(restore: string, signal: AbortSignal): Promise<Restored> {
    await this.#settled(signal);
    return this.#restore(targetsBefore(this.#log.changes, restore), this.#log.position, signal);
  }

  /** Restores the files that a tool call edited. A file that changed since then keeps its changes. */
  async undoCall(callId: string, signal: AbortSignal): Promise<readonly ShownPlan[]> {
    await this.#settled(signal);
    const targets = targetsOfCall(this.#log.changes, callId);
    return targets.length === 0 ? [] : (await this.#restore(targets, this.#log.position, signal)).files;
  }

  /** Gives the diff for the journal. The texts of a large diff are stored in the background. */
  storeDiff({ path, oldText, newText }: TextDiff): StoredDiff {
    if ((oldText?.length ?? 0) + (newText?.length ?? 0) <= MAX_JOURNAL_CHARS) return { path, oldText, newText };
    return { path, oldHash: this.#storeText(oldText), newHash: this.#storeText(newText) };
  }

  /** Settles when the changes of all ended commands are logged. */
  logged(): Promise<void> {
    return this.#watch.settled();
  }

  /** Settles when all changes are logged, and their texts and the earlier contents stored. */
  async #settled(signal: AbortSignal): Promise<void> {
    this.#completed ??= this.#completeLog(signal);
    await Promise.all([this.#watch.copied(COPY_TIME_MS), this.#storing, this.#completed]);
  }

  async #completeLog(signal: AbortSignal): Promise<void> {
    const { interrupted } = this.#log;
    if (interrupted === undefined) return;
    const { completeLog } = await import("./restore.ts");
    await completeLog(interrupted, { files: this.#options.host.files, log: this.#log }, signal);
  }

  #ports(counter: LineCounter): RestorePorts {
    const contents = { get: (hash: string) => this.#contentOf(hash) };
    return { files: this.#options.host.files, store: this.#store, log: this.#log, contents, counter };
  }

  async #contentOf(hash: string): Promise<Buffer | undefined> {
    const blob = this.#log.blobOf(hash);
    const stored = await this.#store.get(hash);
    if (stored !== undefined || blob === undefined) return stored;
    for await (const [, content] of this.#git.read([blob])) return content;
    return undefined;
  }

  /** Ends the background work. */
  async close(): Promise<void> {
    clearTimeout(this.#nextScan);
    await Promise.all([this.#watch.close(), this.#storing]);
  }

  /** Returns the hash of the text. */
  #storeText(text: string | null): string | null {
    return text === null ? null : this.#storeLater(text);
  }

  #storeLater(content: Buffer | string): string {
    const bytes = Buffer.from(content);
    const stored = this.#store.put(bytes).catch((error: unknown) => {
      this.#options.onDefect(`could not store the text of an edit: ${String(error)}`); // a replay shows no diff
    });
    this.#storing = Promise.all([this.#storing, stored]);
    return hashOf(bytes);
  }

  async #restore(targets: readonly Target[], position: number, signal: AbortSignal): Promise<Restored> {
    const [{ restoreFiles }, { LineCounter }] = await Promise.all([
      import("./restore.ts"),
      import("./restore-plan.ts"),
    ]);
    const id = newId();
    this.#log.restore(id, "begin", position);
    const files = await restoreFiles(targets, id, this.#ports(new LineCounter()), signal);
    this.#log.restore(id, "end", position);
    return { id, files };
  }
}

/** A command ends after its changes are logged, but no later than this after its exit. */
const NOTE_MS = 50;
/** Longest wait of a result for the limits of its command; later ones are in the next result. Milliseconds. */
const LIMITS_MS = 300;

type CheckpointedTerminals = {
  readonly terminals: HostTerminals;
  readonly watch: CommandWatch;
  readonly source: string;
  readonly owns: WatchedCommand["owns"];
  /** True for a command that only reads when it starts in this folder. */
  readonly onlyReads: (command: string, folder: string) => Promise<boolean>;
  /** Called with errors that did not stop the work. */
  readonly onDefect: (message: string) => void;
};

/** Terminals for the tools of one call: scan the workspace before and after each command that may write. */
function checkpointedTerminals(options: CheckpointedTerminals): HostTerminals {
  const { terminals, watch, source, owns, onlyReads, onDefect } = options;
  const report = (error: unknown): void => onDefect(`The changes of a command are unknown: ${String(error)}`);
  const logChanges = async (command: WatchedCommand): Promise<void> => {
    const noted = watch.after(command).catch(report);
    await Promise.race([noted, delay(NOTE_MS, undefined, { ref: false })]);
  };
  return {
    ...terminals,
    async watched(work) {
      const command = { source, owns };
      await watch.before(command).catch(report);
      return work().finally(() => logChanges(command));
    },
    async start(request, signal) {
      const { keepsShell, command: text, shell } = request;
      if (await onlyReads(text, shell.folder)) return terminals.start(request, signal);
      const command = { source, owns };
      if (keepsShell) await watch.before(command).catch(report);
      // Changes of a background process cannot be distinguished from those of the user.
      else watch.note(command);
      const running = await terminals.start(request, signal).catch((error: unknown) => {
        watch.release(command);
        throw error;
      });
      let isFollowed = keepsShell;
      const note = async (): Promise<void> => {
        if (!isFollowed) return;
        isFollowed = false;
        await logChanges(command);
      };
      const ended = async (): Promise<CommandExit> => {
        try {
          return await running.exit;
        } finally {
          await note();
        }
      };
      const exit = ended();
      exit.catch(() => undefined); // `exit` rejects for its caller; a lost connection must not be unhandled
      return {
        ...running,
        exit,
        async waitsForInput() {
          const waits = await running.waitsForInput();
          if (waits && isFollowed) {
            // The command becomes a background process.
            isFollowed = false;
            watch.leave(command);
          }
          return waits;
        },
        async inspected() {
          await exit.catch(() => undefined);
          await watch.logged(LIMITS_MS);
          return [...(await running.inspected()), ...watch.takeLimits()];
        },
      };
    },
  };
}
