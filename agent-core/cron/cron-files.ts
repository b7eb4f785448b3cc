/**
 * Files of planned jobs: `jobs.json` with the jobs, and `runs.jsonl`, the ledger of their runs. Instants are UTC, next to the
 * rule and its time zone, from which every next run is computed.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { cronFolder } from "../config/home.ts";
import { appendLines, readJsonLines, replaceFile } from "../config/home-file.ts";
import type { Clock } from "../platform/clock.ts";
import { hasCode, messageOf } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { CronDelivery } from "../protocol/cron.ts";
import { dueInstant, machineZone, type Rule } from "./schedule.ts";

/** Milliseconds since 1970; ISO text in the files, which people read. */
const instant = z.codec(z.iso.datetime(), z.number(), {
  decode: (text) => Date.parse(text),
  encode: (at) => new Date(at).toISOString(),
});

const rule = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("at"), at: instant }),
  z.object({ kind: z.literal("every"), ms: z.number().positive(), from: instant }),
  z.object({ kind: z.literal("cron"), fields: z.string() }),
]);

const jobSchema = z.object({
  /** Part of file names. */
  id: z.string().regex(/^[a-z0-9-]{1,40}$/),
  name: z.string().min(1),
  /** As the user wrote it. */
  schedule: z.string(),
  rule,
  /** IANA name. */
  zone: z.string(),
  /** Planned instants up to this one do not count: time of the last change of schedule, or of the last resume. */
  since: instant,
  paused: z.boolean(),
  prompt: z.string(),
  skills: z.array(z.string()).readonly(),
  workdir: z.string(),
  model: z.string().exactOptional(),
  deliver: CronDelivery,
});
export type Job = z.infer<typeof jobSchema>;

const fileSchema = z.object({ version: z.literal(1), jobs: z.array(jobSchema).readonly() });

/** Table of another program: jobs without our version. */
const foreignSchema = z.object({
  version: z.undefined().optional(),
  jobs: z.array(z.looseObject({ id: z.string() })).min(1),
});

const recordSchema = z.object({
  job: z.string(),
  name: z.string(),
  planned: instant,
  started: instant,
  ended: instant.exactOptional(),
  state: z.enum(["claimed", "running", "completed", "failed", "unknown"]),
  /** Started by hand: it is no planned instant of the rule. */
  manual: z.boolean(),
  late: z.boolean(),
  summary: z.string(),
  sessionId: z.string().exactOptional(),
  output: z.string().exactOptional(),
  denied: z.array(z.string()).readonly(),
});
export type RunRecord = z.infer<typeof recordSchema>;

/** Loops that learn, which run once a day. */
export const BUILT_IN = ["distillation", "report"] as const;
export type BuiltIn = (typeof BUILT_IN)[number];

export function isBuiltIn(id: string): id is BuiltIn {
  return BUILT_IN.some((known) => known === id);
}

/** Time at which users rarely work. */
const DAILY = "30 3 * * *";
const DAILY_RULE: Rule = { kind: "cron", fields: DAILY };

/** Records that the ledger keeps of each job when it is shortened, and its length before that. */
const KEPT_RUNS = 50;
const MAX_LINES = 2_000;

type Cached<Value> = { readonly stamp: string; readonly value: Value };

export class CronFiles {
  readonly folder: string;
  readonly #jobsPath: string;
  readonly #runsPath: string;
  #jobs: Cached<readonly Job[]> | undefined;
  #runs: Cached<readonly RunRecord[]> | undefined;

  constructor(home: string) {
    this.folder = cronFolder(home);
    this.#jobsPath = join(this.folder, "jobs.json");
    this.#runsPath = join(this.folder, "runs.jsonl");
  }

  /** Changes with the jobs and their runs; undefined while no job is stored. */
  async stamp(): Promise<string | undefined> {
    const jobs = await stampOf(this.#jobsPath);
    return jobs === undefined ? undefined : `${jobs} ${await stampOf(this.#runsPath)}`;
  }

  /** Stored jobs, then the unchanged built-in jobs. Rejects for a damaged file. */
  async jobs(zone: string): Promise<readonly Job[]> {
    const stored = await this.#storedJobs();
    const missing = BUILT_IN.filter((id) => stored.every((job) => job.id !== id));
    return [...stored, ...missing.map((id) => builtInJob(id, zone))];
  }

  /** Changes the jobs under a lock. `change` gets all jobs and returns all jobs. Rejects when writing fails. */
  async changeJobs(zone: string, change: (jobs: readonly Job[]) => readonly Job[]): Promise<void> {
    makeFolder(this.folder, 0o700);
    await withLock(`${this.#jobsPath}.lock`, async () => {
      const before = await this.jobs(zone);
      const changed = change(before).filter((job) => !isUnchanged(job, zone));
      const file = z.encode(fileSchema, { version: 1, jobs: changed });
      await replaceFile(this.#jobsPath, `${JSON.stringify(file, undefined, 2)}\n`);
      this.#jobs = undefined;
    });
  }

  /** The last record of each run, oldest run first. A damaged line is left out. */
  async runs(): Promise<readonly RunRecord[]> {
    const stamp = await stampOf(this.#runsPath);
    if (stamp === undefined) return [];
    if (this.#runs?.stamp !== stamp) this.#runs = { stamp, value: await this.#readRuns() };
    return this.#runs.value;
  }

  /** Rejects when writing fails. */
  async record(...records: readonly RunRecord[]): Promise<void> {
    await appendLines(this.#runsPath, records.map(lineOf).join(""));
    this.#runs = undefined;
  }

  /** Shortens a long ledger. */
  async shorten(): Promise<void> {
    if ((await this.runs()).length < MAX_LINES) return;
    await withLock(`${this.#runsPath}.lock`, async () => {
      const runs = await this.#readRuns();
      const kept = runs.filter((run, at) => runs.slice(at + 1).filter(({ job }) => job === run.job).length < KEPT_RUNS);
      await replaceFile(this.#runsPath, kept.map(lineOf).join(""));
    });
    this.#runs = undefined;
  }

  async #storedJobs(): Promise<readonly Job[]> {
    const stamp = await stampOf(this.#jobsPath);
    if (stamp === undefined) return [];
    if (this.#jobs?.stamp !== stamp) this.#jobs = { stamp, value: await this.#readJobs() };
    return this.#jobs.value;
  }

  async #readJobs(): Promise<readonly Job[]> {
    const text = await readFile(this.#jobsPath, "utf8");
    if (foreignSchema.safeParse(parseJson(text)).success) {
      throw new Error(
        `${this.#jobsPath} holds jobs of another program, such as the original Hermes, which runs them itself. They stay as they are. For jobs of this one, choose another home (hermes.home, HERMES_HOME).`,
      );
    }
    try {
      return z.decode(fileSchema, JSON.parse(text)).jobs;
    } catch (error) {
      const reason = error instanceof z.ZodError ? error.issues[0] : undefined;
      const problem = reason === undefined ? messageOf(error) : `${reason.path.join(".")}: ${reason.message}`;
      throw new Error(`${this.#jobsPath} cannot be read (${problem}). No job runs. Correct the file, or remove it.`);
    }
  }

  async #readRuns(): Promise<readonly RunRecord[]> {
    const runs = new Map<string, RunRecord>();
    for (const record of await readJsonLines(this.#runsPath, recordSchema)) {
      runs.set(`${record.job} ${record.planned}`, record);
    }
    return [...runs.values()];
  }
}

/** The built-in jobs: each is due once a day, in idle time after its planned instant. */
export class DailyJobs {
  readonly #files: CronFiles;
  readonly #clock: Pick<Clock, "now">;
  readonly #zone: () => Promise<string | undefined>;

  /** `zone`: of a job that nobody has changed; undefined: the machine's. */
  constructor(home: string, clock: Pick<Clock, "now">, zone: () => Promise<string | undefined>) {
    this.#files = new CronFiles(home);
    this.#clock = clock;
    this.#zone = zone;
  }

  /** True from the planned instant of the day until `markDone`. */
  async isDue(id: BuiltIn): Promise<boolean> {
    const job = await this.#job(id);
    return !job.paused && (await this.#due(job)) !== undefined;
  }

  /** Records the run of today, or one by hand before its planned instant. */
  async markDone(id: BuiltIn): Promise<void> {
    const job = await this.#job(id);
    const now = this.#clock.now();
    const due = await this.#due(job);
    const times = { planned: due ?? now, started: now, ended: now };
    const run = { job: id, name: job.name, ...times, manual: due === undefined, late: false, denied: [] };
    await this.#files.record({ ...run, state: "completed", summary: "" });
  }

  async #due(job: Job): Promise<number | undefined> {
    return dueInstant(job.rule, job.zone, lastPlanned(job, await this.#files.runs()), this.#clock.now());
  }

  /** A damaged file of jobs does not stop what was not changed in it. */
  async #job(id: BuiltIn): Promise<Job> {
    const zone = (await this.#zone()) ?? machineZone();
    const jobs = await this.#files.jobs(zone).catch(() => []);
    return jobs.find((job) => job.id === id) ?? builtInJob(id, zone);
  }
}

/** The last planned instant that a run of the job has, or that does not count. */
export function lastPlanned(job: Job, runs: readonly RunRecord[]): number {
  const planned = runs.filter((run) => run.job === job.id && !run.manual).map((run) => run.planned);
  return Math.max(job.since, ...planned);
}

/** An unchanged built-in job. */
export function builtInJob(id: BuiltIn, zone: string): Job {
  return {
    ...{ id, name: id, schedule: DAILY, rule: DAILY_RULE, zone, since: 0, paused: false },
    ...{ prompt: "", skills: [], workdir: "", deliver: "none" },
  };
}

function isUnchanged(job: Job, zone: string): boolean {
  return isBuiltIn(job.id) && JSON.stringify(job) === JSON.stringify(builtInJob(job.id, zone));
}

function lineOf(record: RunRecord): string {
  return `${JSON.stringify(z.encode(recordSchema, record))}\n`;
}

/** Undefined for a missing file. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
