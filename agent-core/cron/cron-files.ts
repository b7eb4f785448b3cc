/**
 * Files of planned jobs: `jobs.json` with the jobs, and `runs.jsonl`, the ledger of their runs. Instants are UTC, next to the
 * rule and its time zone, from which every next run is computed.
 */
import { join } from "node:path";
import * as z from "zod";
import { cronFolder } from "../config/home.ts";
import { appendLines, fileVersion, readJsonLines, replaceFile } from "../config/home-file.ts";
import type { Clock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { readText } from "../platform/text-file.ts";
import {
  BUILT_IN,
  type BuiltIn,
  builtInJob,
  isUnchanged,
  type Job,
  jobSchema,
  KEPT_RUNS,
  lastPlanned,
  type RunRecord,
  recordSchema,
  titled,
} from "./job.ts";
import { dueInstant, machineZone } from "./schedule.ts";

const fileSchema = z.object({
  version: z.literal(1),
  jobs: z.array(jobSchema).readonly(),
});
type Table = z.infer<typeof fileSchema>;

const originalTable = z.object({ version: z.undefined().optional(), jobs: z.array(z.looseObject({ id: z.string() })) });

/** Number of runs from which the ledger is shortened to `KEPT_RUNS` planned ones and as many by hand of each job. */
const MAX_RUNS = 2_000;

type Cached<Value> = { readonly stamp: string; readonly value: Value };

/** In a home of the original Hermes, `jobs.json` is its table, which it runs itself. Ours is then a file beside it. */
export class CronFiles {
  readonly folder: string;
  readonly #runsPath: string;
  #table: Cached<Table> | undefined;
  #original: Cached<boolean> | undefined;
  #runs: Cached<readonly RunRecord[]> | undefined;

  constructor(home: string) {
    this.folder = cronFolder(home);
    this.#runsPath = join(this.folder, "runs.jsonl");
  }

  /** Changes with the jobs and their runs; undefined while no job is stored. */
  async stamp(): Promise<string | undefined> {
    const { stamp } = await this.#place();
    return stamp === undefined ? undefined : `${stamp} ${fileVersion(this.#runsPath)}`;
  }

  /** Stored jobs, then the unchanged built-in jobs. Rejects for a damaged file. */
  async jobs(zone: string): Promise<readonly Job[]> {
    const { jobs } = await this.#stored();
    const missing = BUILT_IN.filter((id) => jobs.every((job) => job.id !== id));
    return [...jobs.map(titled), ...missing.map((id) => builtInJob(id, zone))];
  }

  /** Changes the jobs under a lock. `change` gets all jobs and returns all jobs. Rejects when writing fails. */
  async changeJobs(zone: string, change: (jobs: readonly Job[]) => readonly Job[]): Promise<void> {
    makeFolder(this.folder, 0o700);
    await withLock(join(this.folder, "jobs.json.lock"), async () => {
      const before = await this.jobs(zone);
      const changed = change(before).filter((job) => !isUnchanged(job, zone));
      const { path } = await this.#place();
      const table = JSON.stringify(z.encode(fileSchema, { version: 1, jobs: changed }), undefined, 2);
      await replaceFile(path, `${table}\n`);
      this.#table = undefined;
    });
  }

  /** The last record of each run, oldest run first. A damaged line is left out. */
  async runs(): Promise<readonly RunRecord[]> {
    const stamp = fileVersion(this.#runsPath);
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
    if ((await this.runs()).length < MAX_RUNS) return;
    await withLock(`${this.#runsPath}.lock`, async () => {
      const runs = await this.#readRuns();
      // Runs by hand must not displace planned ones: those count the runs of a job, and say which instants have run.
      const kept = runs.filter((run, at) => {
        const later = runs.slice(at + 1).filter(({ job, manual }) => job === run.job && manual === run.manual);
        return later.length < KEPT_RUNS;
      });
      await replaceFile(this.#runsPath, kept.map(lineOf).join(""));
    });
    this.#runs = undefined;
  }

  async #place(): Promise<{ readonly path: string; readonly stamp: string | undefined }> {
    const beside = join(this.folder, "vscode-jobs.json");
    const path = join(this.folder, "jobs.json");
    const stamp = fileVersion(beside);
    if (stamp !== undefined || (await this.#isOriginal(path))) return { path: beside, stamp };
    return { path, stamp: fileVersion(path) };
  }

  async #isOriginal(path: string): Promise<boolean> {
    const stamp = fileVersion(path);
    if (stamp === undefined) return false;
    if (this.#original?.stamp !== stamp) {
      const value = originalTable.safeParse(parseJson(await readText(path))).success;
      this.#original = { stamp, value };
    }
    return this.#original.value;
  }

  async #stored(): Promise<Table> {
    const { path, stamp } = await this.#place();
    if (stamp === undefined) return { version: 1, jobs: [] };
    const key = `${path} ${stamp}`;
    if (this.#table?.stamp !== key) this.#table = { stamp: key, value: parseTable(path, await readText(path)) };
    return this.#table.value;
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

/** Throws an Error in one line. */
function parseTable(path: string, text: string): Table {
  try {
    return z.decode(fileSchema, JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? error.issues[0] : undefined;
    const problem = reason === undefined ? messageOf(error) : `${reason.path.join(".")}: ${reason.message}`;
    throw new Error(`${path} cannot be read (${problem}). No job runs. Correct the file, or remove it.`);
  }
}

function lineOf(record: RunRecord): string {
  return `${JSON.stringify(z.encode(recordSchema, record))}\n`;
}
