/** Jobs as people and models see them: the list, and the requests that create and change jobs. */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { codeOf } from "../platform/errors.ts";
import { newId } from "../platform/new-id.ts";
import { findThreat } from "../prompt/injection-scan.ts";
import type { CronJob, CronOutcome, CronRequest, CronState, CronValues } from "../protocol/cron.ts";
import { writeFault } from "../sessions/write-fault.ts";
import { type BuiltIn, isBuiltIn, type Job, lastPlanned, type RunRecord } from "./job.ts";
import { dueInstant, instantText, nextInstant, parseSchedule, scheduleText } from "./schedule.ts";
import { type CronSettings, failuresInARow, type Scheduler, viewOf } from "./scheduler.ts";

/** Runs in the list of the last ones. */
const LISTED_RUNS = 50;
const MAX_NAME_CHARS = 60;

/** Planned jobs as tools and commands reach them. */
export type CronAccess = Pick<CronRequests, "state" | "act">;

export type CronPorts = {
  readonly scheduler: Scheduler;
  readonly settings: () => Promise<CronSettings>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Runs a loop that learns. Resolves to its outcome in one line; false while another process is at work. */
  readonly runBuiltIn: (job: BuiltIn, signal: AbortSignal) => Promise<boolean>;
  /** Names among these that are not skills of a session in `workdir`. */
  readonly missingSkills: (skills: readonly string[], workdir: string) => Promise<readonly string[]>;
  readonly changed: () => void;
};

export class CronRequests {
  readonly #ports: CronPorts;

  constructor(ports: CronPorts) {
    this.#ports = ports;
  }

  async state(): Promise<CronState> {
    const { scheduler, settings } = this.#ports;
    const zone = await scheduler.zone();
    const jobs = await scheduler.files.jobs(zone);
    const [runs, { enabled }] = await Promise.all([scheduler.files.runs(), settings()]);
    return {
      enabled,
      zone,
      jobs: await Promise.all(jobs.map((job) => this.#view(job, runs))),
      runs: runs.slice(-LISTED_RUNS).toReversed().map(viewOf),
    };
  }

  /** `cwd`: folder for a new job that names none. Rejects with an Error in one line when the files cannot be written. */
  async act(request: CronRequest, cwd: string, signal: AbortSignal): Promise<CronOutcome> {
    const { action } = request;
    if (action === "create") return this.#create(request, cwd);
    const job = await this.#find(request.job ?? request.name);
    if (typeof job === "string") return { ok: false, message: job };
    switch (action) {
      case "update":
        return this.#update(job, request);
      case "pause":
        return this.#store({ ...job, paused: true }, `Paused "${job.name}".`);
      case "resume":
        // Instants during the pause were not missed.
        return this.#store({ ...job, paused: false, since: this.#ports.now() }, `Resumed "${job.name}".`);
      case "remove":
        return this.#remove(job);
      case "run":
        return this.#run(job, request.wait === true, signal);
    }
  }

  async #create(values: CronValues, cwd: string): Promise<CronOutcome> {
    const { schedule, prompt = "", skills = [], workdir = cwd, model = "", deliver = "notify" } = values;
    const name = (values.name ?? oneLine(prompt)).trim();
    if (schedule === undefined) return refused("a job needs a schedule");
    if (prompt.trim() === "") return refused("a job needs a prompt");
    const problem = await this.#problemOf({ name, prompt, workdir, skills });
    if (problem !== undefined) return refused(problem);
    const zone = await this.#ports.scheduler.zone();
    const parsed = await parseSchedule(schedule, zone, this.#ports.now());
    if (!parsed.ok) return refused(parsed.problem);
    const job: Job = {
      id: newId().slice(0, 8),
      name,
      schedule,
      rule: parsed.rule,
      zone,
      since: this.#ports.now(),
      paused: false,
      prompt,
      skills,
      workdir,
      deliver,
      ...(model !== "" && { model }),
    };
    return this.#store(job, `Created the job "${name}".`);
  }

  async #update(job: Job, values: CronRequest): Promise<CronOutcome> {
    const { action: _, job: named, wait: __, schedule, model, name, ...others } = values;
    // Without `job`, the name says which job is meant.
    const rest = { ...others, ...(named !== undefined && name !== undefined && { name }) };
    if (isBuiltIn(job.id) && (model !== undefined || Object.keys(rest).length > 0)) {
      return refused(`only the schedule of "${job.name}" can change`);
    }
    const problem = await this.#problemOf({ ...(rest.skills && { workdir: job.workdir }), ...rest }, job.id);
    if (problem !== undefined) return refused(problem);
    const { model: before, ...kept } = job;
    const used = model ?? before ?? "";
    const changed: Job = { ...kept, ...rest, ...(used !== "" && { model: used }) };
    if (schedule === undefined) return this.#store(changed, `Changed "${changed.name}".`);
    const zone = await this.#ports.scheduler.zone();
    const now = this.#ports.now();
    const parsed = await parseSchedule(schedule, zone, now);
    if (!parsed.ok) return refused(parsed.problem);
    return this.#store(
      { ...changed, schedule, rule: parsed.rule, zone, since: now },
      `Changed the schedule of "${changed.name}".`,
    );
  }

  async #remove(job: Job): Promise<CronOutcome> {
    if (isBuiltIn(job.id)) return refused(`"${job.name}" is a part of Hermes; pause it instead`);
    await this.#change((jobs) => jobs.filter(({ id }) => id !== job.id));
    return { ok: true, message: `Removed "${job.name}". Its outputs and sessions stay.` };
  }

  async #run(job: Job, waits: boolean, signal: AbortSignal): Promise<CronOutcome> {
    const { scheduler, runBuiltIn } = this.#ports;
    if (isBuiltIn(job.id)) {
      const isDone = await runBuiltIn(job.id, signal);
      return isDone
        ? { ok: true, message: `"${job.name}": everything that was due is done.` }
        : refused("another process of this home is learning at the moment; try again in a minute");
    }
    const run = await scheduler.runNow(job);
    if (run === undefined) return refused(`"${job.name}" is running already`);
    if (!waits) return { ok: true, message: `Started "${job.name}".`, job: await this.#view(job) };
    const { state, summary, output = "" } = await run.ended;
    const message = [`"${job.name}" ${state}.`, summary, output].filter((part) => part !== "").join(" ");
    return { ok: state === "completed", message, job: await this.#view(job) };
  }

  async #store(job: Job, done: string): Promise<CronOutcome> {
    await this.#change((jobs) => [...jobs.filter(({ id }) => id !== job.id), job]);
    const view = await this.#view(job);
    return { ok: true, message: `${done} ${nextText(view)}`, job: view };
  }

  async #change(change: (jobs: readonly Job[]) => readonly Job[]): Promise<void> {
    const { scheduler, changed } = this.#ports;
    try {
      await scheduler.files.changeJobs(await scheduler.zone(), change);
    } catch (error) {
      if (codeOf(error) === undefined) throw error; // a damaged table, in words for people
      throw new Error(`The jobs cannot be stored: ${writeFault(error)}.`, { cause: error });
    }
    changed();
  }

  /** The job with this id or name, or the reason why there is none. */
  async #find(wanted: string | undefined): Promise<Job | string> {
    if (wanted === undefined) return "cron: name the job by its id or its name.";
    const { scheduler } = this.#ports;
    const jobs = await scheduler.files.jobs(await scheduler.zone());
    const named = jobs.filter(({ id, name }) => id === wanted || sameName(name, wanted));
    const [job, other] = named;
    if (job !== undefined && other === undefined) return job;
    const names = jobs.map(({ name }) => name).join(", ");
    return `cron: there is no job ${JSON.stringify(wanted)}. Jobs: ${names}.`;
  }

  async #problemOf(values: CronValues, own?: string): Promise<string | undefined> {
    const { name, prompt, workdir, skills = [] } = values;
    if (name !== undefined) {
      if (name === "" || name.length > MAX_NAME_CHARS || /[\n\r]/.test(name)) {
        return `name: expected 1 to ${MAX_NAME_CHARS} characters in one line`;
      }
      const jobs = await this.#ports.scheduler.files.jobs(await this.#ports.scheduler.zone());
      if (jobs.some((job) => job.id !== own && (sameName(job.name, name) || job.id === name))) {
        return `there is a job ${JSON.stringify(name)} already; update it, or choose another name`;
      }
    }
    const threat = prompt === undefined ? undefined : findThreat(prompt);
    if (threat !== undefined) return `the prompt contains ${threat}`;
    const skill = skills.find((each) => !/^[a-z0-9-]{1,64}$/.test(each));
    if (skill !== undefined) return `skills: ${JSON.stringify(skill)} is not the name of a skill`;
    const missing = await this.#ports.missingSkills(skills, workdir ?? "");
    if (missing.length > 0) return `skills: there is no skill ${missing.join(", ")}`;
    return workdir === undefined ? undefined : folderProblem(workdir);
  }

  async #view(job: Job, known?: readonly RunRecord[]): Promise<CronJob> {
    const { scheduler, now } = this.#ports;
    const runs = known ?? (await scheduler.files.runs());
    const { id, name, schedule, rule, zone, paused, prompt, skills, workdir, model, deliver } = job;
    const after = lastPlanned(job, runs);
    const due = await dueInstant(rule, zone, after, now());
    const planned = due ?? (await nextInstant(rule, zone, Math.max(after, now())));
    const last = runs.findLast((run) => run.job === id);
    return {
      id,
      name,
      schedule,
      zone,
      prompt,
      skills,
      workdir,
      deliver,
      builtIn: isBuiltIn(id),
      state: scheduler.isRunning(job) ? "running" : restingState(paused, planned),
      scheduleText: scheduleText(rule, zone),
      ...(planned !== undefined && !paused && { next: planned }),
      ...(last && { last: viewOf(last) }),
      failures: failuresInARow(id, runs),
      ...(model !== undefined && { model }),
    };
  }
}

function restingState(paused: boolean, planned: number | undefined): CronJob["state"] {
  if (paused) return "paused";
  return planned === undefined ? "ended" : "active";
}

/** Time of the next run in a sentence, with the time zone. */
export function nextText({ state, next, zone, scheduleText: schedule }: CronJob): string {
  if (state === "paused") return `It runs again after a resume (${schedule}).`;
  return next === undefined ? "There is no further run." : `Next run: ${instantText(next, zone)}.`;
}

async function folderProblem(folder: string): Promise<string | undefined> {
  if (!isAbsolute(folder)) return `workdir: ${JSON.stringify(folder)} is not an absolute path`;
  return (await isFolder(folder)) ? undefined : `workdir: there is no folder ${folder}`;
}

export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.trim().toLowerCase();
}

function oneLine(prompt: string): string {
  return prompt.replaceAll(/\s+/g, " ").trim().slice(0, MAX_NAME_CHARS).toWellFormed();
}

function refused(problem: string): CronOutcome {
  return { ok: false, message: `cron: ${problem}.` };
}
