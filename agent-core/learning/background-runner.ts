/**
 * Background work of a home: begins when no turn has run for a while, one process at a time, and stops at once when a turn
 * begins. Every piece of work commits separately, so that a stop or a kill costs at most the piece that is running.
 */
import { join } from "node:path";
import { learningFolder } from "../config/home.ts";
import type { Clock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { acquireLock, type FileLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import type { LoopName } from "../protocol/learning.ts";

export type BackgroundWork = {
  readonly loop: LoopName;
  /**
   * Does one small piece, and commits it. Resolves to false when there is nothing to do at present. Rejects with the
   * signal's reason when it is aborted.
   */
  doNext(signal: AbortSignal): Promise<boolean>;
  /** Work of a daily loop that does not wait for its time, such as the scores of ended sessions. As `doNext`. */
  keepUp?(signal: AbortSignal): Promise<boolean>;
};

/** Time between two looks for work. Milliseconds. */
const CHECK_MS = 15_000;
/** Rest after a look that found nothing to do: each look reads files and the configuration. A turn ends the rest. */
const REST_MS = 300_000;
/** A loop that failed pauses: the cause rarely goes away within a minute. Milliseconds. */
const PAUSE_MS = 600_000;

export type RunnerOptions = {
  /** Hermes' home folder. */
  readonly home: string;
  /** In the order in which they run. */
  readonly works: readonly BackgroundWork[];
  readonly clock: Clock;
  /** Time without a turn before work begins. Read at each check. Milliseconds. */
  readonly idleMs: () => number;
  readonly log: (line: string) => void;
};

/** Homes whose work runs in this process: a process may acquire its own lock twice. */
const leased = new Set<string>();

export class BackgroundRunner {
  readonly #options: RunnerOptions;
  readonly #lock: string;
  /** Time until which a failed loop pauses; milliseconds of the monotonic clock. */
  readonly #paused = new Map<LoopName, number>();
  #stopChecks: (() => void) | undefined;
  #turns = 0;
  /** Milliseconds of the monotonic clock. */
  #idleSince: number;
  /** Time until which nothing is looked for; milliseconds of the monotonic clock. */
  #restUntil = Number.NEGATIVE_INFINITY;
  #running: { readonly cancel: AbortController; readonly done: Promise<void> } | undefined;
  #loop: LoopName | undefined;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#lock = join(learningFolder(options.home), "runner.lock");
    this.#idleSince = options.clock.monotonicNow();
  }

  /** Loop that works at present. */
  get loop(): LoopName | undefined {
    return this.#loop;
  }

  /** Looks for work from now on. */
  start(): void {
    this.#stopChecks ??= this.#options.clock.every(CHECK_MS, () => this.#check());
  }

  /** A turn begins: work stops. Call the returned function at its end. */
  beginTurn(): () => void {
    this.#turns += 1;
    this.#running?.cancel.abort();
    return () => {
      this.#turns -= 1;
      this.#idleSince = this.#options.clock.monotonicNow();
      this.#restUntil = this.#idleSince;
    };
  }

  /**
   * Does all work that there is, without waiting for an idle time. Resolves to a line for each loop that failed;
   * undefined while another process is at work. Rejects with the signal's reason.
   */
  async runNow(signal: AbortSignal): Promise<readonly string[] | undefined> {
    await this.#running?.done;
    this.#paused.clear();
    const lock = this.#lease();
    if (lock === undefined) return undefined;
    const failures = await this.#work(lock, signal);
    signal.throwIfAborted();
    return failures;
  }

  async dispose(): Promise<void> {
    this.#stopChecks?.();
    this.#running?.cancel.abort();
    await this.#running?.done;
  }

  #check(): void {
    const { clock, idleMs, log } = this.#options;
    const now = clock.monotonicNow();
    if (this.#running !== undefined || this.#turns > 0 || now < this.#restUntil) return;
    if (now - this.#idleSince < idleMs()) return;
    let lock: FileLock | undefined;
    try {
      lock = this.#lease();
    } catch (error) {
      log(`learning: the home cannot be written: ${messageOf(error)}`);
      return;
    }
    if (lock === undefined) return;
    const cancel = new AbortController();
    const done = this.#work(lock, cancel.signal).then(() => {
      this.#running = undefined;
    });
    this.#running = { cancel, done };
  }

  /** Undefined while another process, or another part of this one, is at work. Throws when the home cannot be written. */
  #lease(): FileLock | undefined {
    if (leased.has(this.#lock)) return undefined;
    makeFolder(learningFolder(this.#options.home), 0o700);
    const acquired = acquireLock(this.#lock);
    if ("pid" in acquired) return undefined;
    leased.add(this.#lock);
    return acquired;
  }

  /** Resolves to one line for each loop that failed. Never rejects. */
  async #work(lock: FileLock, signal: AbortSignal): Promise<readonly string[]> {
    const failures: string[] = [];
    try {
      for (const work of this.#options.works) failures.push(...(await this.#runLoop(work, signal)));
      if (!signal.aborted) this.#restUntil = this.#options.clock.monotonicNow() + REST_MS;
    } finally {
      this.#loop = undefined;
      leased.delete(this.#lock);
      lock.release();
    }
    return failures;
  }

  /** A failure of one loop does not reach another. Resolves to a line about it. */
  async #runLoop({ loop, doNext }: BackgroundWork, signal: AbortSignal): Promise<readonly string[]> {
    const { clock, log } = this.#options;
    if ((this.#paused.get(loop) ?? 0) > clock.monotonicNow()) return [];
    this.#loop = loop;
    try {
      while (!signal.aborted && (await doNext(signal)));
    } catch (error) {
      if (signal.aborted) return [];
      this.#paused.set(loop, clock.monotonicNow() + PAUSE_MS);
      const line = `${loop} failed: ${messageOf(error)}`;
      log(`learning: ${line}`);
      return [line];
    }
    return [];
  }
}
