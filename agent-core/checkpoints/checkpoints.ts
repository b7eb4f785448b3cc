/** A session's changes of files, and the way back: its Host with memory, what a restore would do, and the restore. */
import { randomUUID } from "node:crypto";
import type { Host } from "../host/host.ts";
import { ChangeLog, type ChangeLogOptions } from "./change-log.ts";
import { checkpointedFiles } from "./checkpointed-files.ts";
import { checkpointedTerminals } from "./checkpointed-terminals.ts";
import { CommandWatch } from "./command-watch.ts";
import { gitBlobs } from "./git-blobs.ts";
import { ObjectStore } from "./object-store.ts";
import { type PlannedFile, planFile } from "./plan-file.ts";
import { type RestoredFile, restoreFiles } from "./restore.ts";
import { changesAfter, type Target, targetsAt, targetsBefore } from "./restore-plan.ts";
import { WorkspaceScan } from "./workspace-scan.ts";

export type CheckpointsOptions = ChangeLogOptions & {
  readonly host: Host;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** Folder of the objects, absolute. */
  readonly objects: string;
  /** False: nothing is written and no command runs, so nothing is watched. */
  readonly trusted: () => boolean;
  /** Files beyond which a workspace is not watched for what commands change; default 20,000. */
  readonly maxFiles?: number;
  /** Time from the beginning of a turn to the look at the workspace, in milliseconds; default 0. */
  readonly lookDelayMs?: number;
  readonly onlyReads: (command: string, folder: string) => boolean;
  /** A line for people. */
  readonly tell: (problem: string) => void;
  readonly onDefect: (message: string) => void;
};

/** What a restore did; `id` is what it is undone by. */
export type Restored = { readonly id: string; readonly files: readonly RestoredFile[] };

export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #log: ChangeLog;
  readonly #store: ObjectStore;
  readonly #watch: CommandWatch;
  #nextLook: NodeJS.Timeout | undefined;

  constructor(options: CheckpointsOptions) {
    const { roots, objects, maxFiles, tell } = options;
    this.#options = options;
    this.#log = new ChangeLog(options);
    this.#store = new ObjectStore(objects);
    this.#watch = new CommandWatch({
      scan: new WorkspaceScan(roots, maxFiles),
      store: this.#store,
      git: gitBlobs(roots),
      log: this.#log,
      tell,
    });
  }

  /** A restore that a crash cut off; the same restore again finishes it. */
  get interrupted(): { readonly position: number } | undefined {
    return this.#log.interrupted;
  }

  /** The restore that ended last in this session; undefined when there was none. */
  get lastRestore(): string | undefined {
    return this.#log.lastRestore;
  }

  /** The Host for one tool call: what it changes is kept and noted. */
  hostFor(source: string): Host {
    const { host, roots, onlyReads, onDefect, tell } = this.#options;
    return {
      ...host,
      files: checkpointedFiles({
        files: host.files,
        store: this.#store,
        log: this.#log,
        roots,
        source,
        settled: () => this.#watch.settled(),
        tell,
      }),
      terminals: checkpointedTerminals({ terminals: host.terminals, watch: this.#watch, source, onlyReads, onDefect }),
    };
  }

  /** A turn begins: the workspace is looked at beside it. A command that starts earlier is preceded by its own look. */
  beginTurn(): void {
    const { trusted, onDefect, lookDelayMs = 0 } = this.#options;
    if (!trusted()) return;
    const look = (): void => {
      this.#watch.look().catch((error: unknown) => onDefect(`The workspace cannot be watched: ${String(error)}`));
    };
    clearTimeout(this.#nextLook);
    if (lookDelayMs === 0) look();
    else this.#nextLook = setTimeout(look, lookDelayMs).unref();
  }

  /** The user saved a file in the editor: also while a command runs it is theirs. `path` is absolute. */
  userSaved(path: string): void {
    this.#watch.userSaved(path);
  }

  /** How many files were changed with or after the message at this position. */
  countSince(position: number): number {
    return new Set(changesAfter(this.#log.changes, position).map(({ path }) => path)).size;
  }

  /** What restoring the files to where they stood before the message at `position` would do now. */
  async preview(position: number, signal: AbortSignal): Promise<readonly PlannedFile[]> {
    await this.#watch.settled();
    const targets = targetsAt(this.#log.changes, position);
    const { files } = this.#options.host;
    const planned = await Promise.all(targets.map((target) => planFile(target, files, this.#store, signal)));
    return planned.filter((file) => file !== undefined);
  }

  /** Puts the files back to where they stood before the message at `position`. */
  async restore(position: number, signal: AbortSignal): Promise<Restored> {
    await this.#watch.settled();
    return this.#restore(targetsAt(this.#log.changes, position), position, signal);
  }

  /** Puts the files back to where they stood before a restore. */
  async undo(restore: string, signal: AbortSignal): Promise<Restored> {
    await this.#watch.settled();
    return this.#restore(targetsBefore(this.#log.changes, restore), this.#log.position, signal);
  }

  /** Ends what goes on beside the turns. */
  close(): Promise<void> {
    clearTimeout(this.#nextLook);
    return this.#watch.close();
  }

  async #restore(targets: readonly Target[], position: number, signal: AbortSignal): Promise<Restored> {
    const id = randomUUID();
    this.#log.restore(id, "begin", position);
    const ports = { files: this.#options.host.files, store: this.#store, log: this.#log };
    const files = await restoreFiles(targets, id, ports, signal);
    this.#log.restore(id, "end", position);
    return { id, files };
  }
}
