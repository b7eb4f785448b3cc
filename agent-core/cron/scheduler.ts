/**
 * Runs jobs at their planned instants. All windows and processes of a home share one ledger: a run is claimed under the tick
 * lock before it starts, so that each planned instant runs once, and a run whose process died is never repeated.
 */
import { join } from "node:path";
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { leaveDelivery } from "../config/deliveries.ts";
import { replaceFile } from "../config/home-file.ts";
import type { Config } from "../config/sections.ts";
import type { Clock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { acquireLock, type FileLock, lockHolder, withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import type { CronRun } from "../protocol/cron.ts";
import { call } from "../protocol/method.ts";
import { sessionMethods } from "../protocol/sessions.ts";
import { inUnattendedSession, type Unattended } from "../protocol/unattended-session.ts";
import { CronFiles } from "./cron-files.ts";
import { isBuiltIn, type Job, lastPlanned, type RunRecord } from "./job.ts";
import { dueInstant, instantText, machineZone, nextInstant } from "./schedule.ts";

const TICK_MS = 60_000;
/** A run that starts later than two ticks after its planned instant is late. Milliseconds. */
const LATE_MS = 2 * TICK_MS;
/** Each run is a session with its model calls and commands; further due ones wait for a free place. */
const MAX_RUNNING = 3;
/** Failures in a row after which the user is no longer notified. */
const MAX_NOTIFIED_FAILURES = 3;

export type CronSettings = Config["cron"];

/** Result of a job's session. `text`: last answer. `denied`: calls that would have asked the user. */
export type JobResult = {
  readonly ok: boolean;
  readonly summary: string;
  readonly text: string;
  readonly denied: readonly string[];
};

export type SchedulerOptions = {
  /** Hermes' home folder. */
  readonly home: string;
  readonly clock: Clock;
  readonly settings: () => Promise<CronSettings>;
  /** Runs the job in a session. Calls `opened` with its id. Rejects with an Error in one line. */
  readonly runJob: (job: Job, opened: (sessionId: string) => void, signal: AbortSignal) => Promise<JobResult>;
  /** Jobs or runs have changed. */
  readonly changed: () => void;
  /** A run ended. `message`: one line for the user, if the user is to be notified. */
  readonly finished: (run: CronRun, message: string | undefined) => void;
  readonly log: (line: string) => void;
};

type Claim = { readonly job: Job; readonly run: RunRecord; readonly lock: FileLock };

/** Locks of jobs that run in this process, which can acquire its own lock again. */
const running = new Set<string>();

export class Scheduler {
  readonly files: CronFiles;
  readonly #options: SchedulerOptions;
  readonly #runs = new Set<Promise<CronRun>>();
  readonly #disposal = new AbortController();
  #stopTicks: (() => void) | undefined;
  /** State of the files at which nothing was due until `until`. */
  #idle: { readonly stamp: string; readonly until: number } | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.files = new CronFiles(options.home);
  }

  /** Ticks each minute from now on. */
  start(): void {
    if (this.#disposal.signal.aborted) return;
    this.#stopTicks ??= this.#options.clock.every(TICK_MS, () => void this.tick());
    void this.tick();
  }

  /** Starts what is due. Never rejects. */
  async tick(): Promise<void> {
    try {
      await this.#startDue(this.#disposal.signal);
    } catch (error) {
      this.#options.log(`cron: ${messageOf(error)}`);
    }
  }

  /** Runs everything that is due, to its end. Resolves to the runs in the order of their starts. */
  async runDue(signal: AbortSignal): Promise<readonly CronRun[]> {
    const ended: CronRun[] = [];
    for (;;) {
      const { started, lost } = await this.#startDue(signal);
      ended.push(...lost, ...(await Promise.all(started)));
      signal.throwIfAborted();
      if (started.length === 0) return ended;
    }
  }

  /** Starts a run by hand. Undefined while the job runs already. */
  async runNow(job: Job): Promise<{ readonly ended: Promise<CronRun> } | undefined> {
    const claim = await this.#locked(async () => {
      const taken = new Set((await this.files.runs()).filter((run) => run.job === job.id).map((run) => run.planned));
      let planned = this.#options.clock.now();
      while (taken.has(planned)) planned += 1;
      return this.#claimOne(job, planned, true);
    });
    return claim && { ended: this.#track(claim, this.#disposal.signal) };
  }

  isRunning({ id }: Pick<Job, "id">): boolean {
    const lock = this.#lockOf(id);
    return running.has(lock) || lockHolder(lock) !== undefined;
  }

  async dispose(): Promise<void> {
    this.#stopTicks?.();
    this.#disposal.abort(new Error("Hermes was closed while the job ran"));
    await Promise.all(this.#runs);
  }

  /** Time zone of new jobs. */
  async zone(): Promise<string> {
    return (await this.#options.settings()).timezone ?? machineZone();
  }

  async #startDue(signal: AbortSignal): Promise<{ readonly started: Promise<CronRun>[]; readonly lost: CronRun[] }> {
    const none = { started: [], lost: [] };
    const stamp = await this.files.stamp();
    const now = this.#options.clock.now();
    if (stamp === undefined || (this.#idle?.stamp === stamp && now < this.#idle.until)) return none;
    const settings = await this.#options.settings();
    if (!settings.enabled || signal.aborted) return none;
    const { claims, lost } = await this.#locked(() => this.#claimDue(settings, now));
    for (const run of lost) await this.#announce(run);
    return { started: claims.map((claim) => this.#track(claim, signal)), lost: lost.map(viewOf) };
  }

  async #claimDue({ runMissed: missed }: CronSettings, now: number) {
    const lost = await this.#findLost(now);
    const claims: Claim[] = [];
    const jobs = (await this.files.jobs(await this.zone())).filter(({ id, paused }) => !isBuiltIn(id) && !paused);
    let until = Number.POSITIVE_INFINITY;
    for (const job of jobs) {
      const runs = await this.files.runs();
      const after = lastPlanned(job, runs);
      const earliest = missed === "skip" ? Math.max(after, now - LATE_MS) : after;
      const due = await dueInstant(job.rule, job.zone, earliest, now);
      if (due === undefined) {
        until = Math.min(until, (await nextInstant(job.rule, job.zone, Math.max(after, now))) ?? until);
        continue;
      }
      until = now;
      if (this.#runs.size + claims.length >= MAX_RUNNING) break;
      const claim = await this.#claimOne(job, due, false);
      if (claim !== undefined) claims.push(claim);
    }
    await this.files.shorten();
    const stamp = await this.files.stamp();
    const isWatching = (await this.files.runs()).some(isOpen);
    this.#idle = stamp === undefined || isWatching ? undefined : { stamp, until };
    return { claims, lost };
  }

  /** Undefined while an earlier run of the job has not ended. */
  async #claimOne(job: Job, planned: number, manual: boolean): Promise<Claim | undefined> {
    const path = this.#lockOf(job.id);
    if (running.has(path)) return undefined;
    const lock = acquireLock(path);
    if ("pid" in lock) return undefined;
    running.add(path);
    const started = this.#options.clock.now();
    const run: RunRecord = {
      job: job.id,
      name: job.name,
      planned,
      started,
      state: "claimed",
      manual,
      late: started - planned > LATE_MS,
      summary: "",
      denied: [],
    };
    const release = (): void => {
      running.delete(path);
      lock.release();
    };
    try {
      await this.files.record(run);
    } catch (error) {
      release();
      throw error;
    }
    return { job, run, lock: { ...lock, release } };
  }

  /** Runs whose process died, so that their progress is unknown. */
  async #findLost(now: number): Promise<readonly RunRecord[]> {
    const lost = (await this.files.runs())
      .filter((run) => isOpen(run) && !this.isRunning({ id: run.job }))
      .map((run): RunRecord => {
        const summary =
          "Its process ended before the run did. It may have done a part of its work, and is not repeated.";
        return { ...run, state: "unknown", ended: now, summary };
      });
    if (lost.length > 0) await this.files.record(...lost);
    return lost;
  }

  /** Never rejects. */
  #track(claim: Claim, signal: AbortSignal): Promise<CronRun> {
    this.#options.changed();
    const run = this.#execute(claim, signal).finally(() => {
      this.#runs.delete(run);
      if (this.#stopTicks !== undefined) void this.tick(); // a place is free
    });
    this.#runs.add(run);
    return run;
  }

  async #execute({ job, run: claimed, lock }: Claim, signal: AbortSignal): Promise<CronRun> {
    const { clock, log } = this.#options;
    let run = claimed;
    try {
      const result = await this.#result(job, signal, async (sessionId) => {
        run = { ...run, state: "running", sessionId };
        await this.files.record(run);
        this.#options.changed();
      });
      const { ok, summary, denied } = result;
      run = { ...run, state: ok ? "completed" : "failed", ended: clock.now(), summary, denied };
      run = { ...run, output: await this.#writeOutput(job, run, result.text) };
      if (job.deliver !== "notify" && job.deliver !== "none") {
        const text = ok ? result.text : `The job "${job.name}" failed. ${summary}`;
        await leaveDelivery(this.#options.home, { to: job.deliver, text });
      }
    } catch (error) {
      const failure = `The output could not be written: ${messageOf(error)}`;
      run = { ...run, state: "failed", ended: clock.now(), summary: failure };
    }
    try {
      await this.files.record(run);
    } catch (error) {
      log(`cron: the run of ${job.name} could not be recorded: ${messageOf(error)}`);
    } finally {
      lock.release();
    }
    await this.#announce(run);
    return viewOf(run);
  }

  async #result(job: Job, signal: AbortSignal, opened: (sessionId: string) => Promise<void>): Promise<JobResult> {
    const threat = findThreat(job.prompt);
    const failed = (summary: string): JobResult => ({ ok: false, summary, text: "", denied: [] });
    if (threat !== undefined) return failed(`The prompt contains ${threat}.`);
    let recorded: Promise<void> = Promise.resolve();
    try {
      const whole = AbortSignal.any([signal, this.#disposal.signal]);
      const onOpened = (sessionId: string): void => {
        recorded = opened(sessionId);
        recorded.catch(() => undefined); // a full disk: the end of the job reports it
      };
      const result = await this.#options.runJob(job, onOpened, whole);
      await recorded;
      return result;
    } catch (error) {
      await recorded.catch(() => undefined);
      return failed(messageOf(error));
    }
  }

  async #writeOutput(job: Job, run: RunRecord, text: string): Promise<string> {
    const folder = join(this.files.folder, "output", job.id);
    makeFolder(folder, 0o700);
    const path = join(folder, `${new Date(run.planned).toISOString().replaceAll(":", "-")}.md`);
    await replaceFile(path, outputText(job, run, text));
    return path;
  }

  async #announce(run: RunRecord): Promise<void> {
    const { changed, finished, log } = this.#options;
    try {
      const job = (await this.files.jobs(machineZone())).find(({ id }) => id === run.job);
      const failures = failuresInARow(run.job, await this.files.runs());
      finished(viewOf(run), job === undefined || job.deliver === "notify" ? messageFor(run, failures) : undefined);
    } catch (error) {
      log(`cron: ${messageOf(error)}`);
    }
    changed();
  }

  #locked<Result>(work: () => Promise<Result>): Promise<Result> {
    makeFolder(this.files.folder, 0o700);
    return withLock(join(this.files.folder, ".tick.lock"), work);
  }

  #lockOf(id: string): string {
    return join(this.files.folder, `.${id}.lock`);
  }
}

function isOpen({ state }: RunRecord): boolean {
  return state === "claimed" || state === "running";
}

export function viewOf({ state, manual: _, ...run }: RunRecord): CronRun {
  return { ...run, state: state === "claimed" ? "running" : state };
}

export function failuresInARow(job: string, runs: readonly RunRecord[]): number {
  const ended = runs.filter((run) => run.job === job && !isOpen(run));
  return ended.length - 1 - ended.findLastIndex(({ state }) => state === "completed");
}

/** Undefined when the user knows already that the job fails. */
function messageFor({ name, state, summary, late, planned, started }: RunRecord, failures: number): string | undefined {
  const times = `planned for ${instantText(planned, machineZone())}, run at ${instantText(started, machineZone())}`;
  const lateness = late ? ` Late: ${times}.` : "";
  if (state === "completed") return `The job "${name}" finished.${lateness}`;
  if (failures > MAX_NOTIFIED_FAILURES) return undefined;
  if (failures === MAX_NOTIFIED_FAILURES) {
    return `The job "${name}" has failed ${failures} times in a row. ${summary} You are notified again after it succeeds.`;
  }
  return `The job "${name}" ${state === "unknown" ? "was interrupted" : "failed"}. ${summary}${lateness}`;
}

function outputText({ name, schedule, zone, prompt }: Job, run: RunRecord, text: string): string {
  const { state, summary, planned, started, late, manual, sessionId, denied } = run;
  const lines = [
    `# ${name}`,
    "",
    manual
      ? `- Started by hand: ${instantText(started, zone)}`
      : `- Planned: ${instantText(planned, zone)} by \`${schedule}\``,
    ...(manual ? [] : [`- Started: ${instantText(started, zone)}${late ? ", late" : ""}`]),
    `- Result: ${state}. ${summary}`.trimEnd(),
    ...(sessionId === undefined ? [] : [`- Session: ${sessionId}`]),
    ...(denied.length === 0 ? [] : ["", "## Denied, because nobody could be asked", ""]),
    ...denied.map((call) => `- ${call}`),
    ...["", "## Prompt", "", prompt, "", "## Answer", "", text === "" ? "No answer." : text, ""],
  ];
  return lines.join("\n");
}

type OpenedJob = { readonly job: Job; readonly opened: (sessionId: string) => void };

/** Length of the first line of an answer in a list. Characters. */
const SUMMARY_CHARS = 200;

/** Runs a job to its end. Rejects with an Error in one line. */
export async function runJobSession(
  app: AgentApp,
  { job, opened, ...asked }: Pick<Unattended<object>, "info" | "model"> & OpenedJob,
  signal: AbortSignal,
): Promise<JobResult> {
  let text = "";
  const session: Unattended<{ readonly stopReason: string }> = {
    ...asked,
    cwd: job.workdir,
    update({ update }) {
      // The answer is the text after the last tool call.
      if (update.sessionUpdate === "tool_call") text = "";
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") text += update.content.text;
    },
    async work(agent, sessionId, prompt) {
      await call(agent, sessionMethods.rename, { sessionId, title: job.name });
      opened(sessionId);
      signal.throwIfAborted();
      // Skills are named as a user names them: as slash commands before the task.
      return { stopReason: await prompt([...job.skills.map((skill) => `/${skill}`), job.prompt].join(" ")) };
    },
  };
  const { stopReason, denied } = await inUnattendedSession(app, session, signal);
  signal.throwIfAborted();
  const ok = stopReason === "end_turn";
  const [firstLine = ""] = text.trim().split("\n", 1);
  const summary = ok ? firstLine.slice(0, SUMMARY_CHARS) : `The turn ended early: ${stopReason}.`;
  return { ok, summary, text: text.trim(), denied };
}
