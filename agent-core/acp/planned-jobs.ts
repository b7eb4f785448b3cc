/** Planned jobs of one agent process. The scheduler is loaded with the first tick or request. */
import { homedir } from "node:os";
import type { AgentApp } from "@zed-industries/agent-client-protocol";
import { type Environment, skillsFolder } from "../config/home.ts";
import type { CronRequests } from "../cron/cron-requests.ts";
import type { Job } from "../cron/job.ts";
import type { CronSettings, JobResult, Scheduler } from "../cron/scheduler.ts";
import type { Clock } from "../platform/clock.ts";
import type { CronOutcome, CronRequest, CronRun, CronState } from "../protocol/cron.ts";
import type { Background } from "./background-learning.ts";
import type { ClientModels } from "./client-models.ts";
import type { ModelSource } from "./sessionless-models.ts";

/** Delay of the scheduler, so that it does not slow the first prompt of a new process. Milliseconds. */
const START_DELAY_MS = 3_000;

/** Agent for the session of a job, whose client cannot ask anybody. */
export type JobAgent = { readonly app: AgentApp; dispose(): Promise<void> };

export type JobAgentOptions = {
  readonly environment: Environment;
  /** `models`: the editor's models. */
  readonly job: { readonly models: ClientModels | undefined };
};

export type PlannedJobsOptions = {
  /** Hermes' home folder. */
  readonly home: string;
  readonly version: string;
  readonly clock: Clock;
  readonly models: Omit<ModelSource, "configuration"> & {
    readonly configuration: ModelSource["configuration"] & { readonly environment: Environment };
  };
  readonly background: Pick<Background, "beginTurn" | "runNow">;
  readonly makeAgent: (options: JobAgentOptions) => JobAgent;
  readonly log: (line: string) => void;
};

type Loaded = { readonly scheduler: Scheduler; readonly requests: CronRequests };

export class PlannedJobs {
  readonly #options: PlannedJobsOptions;
  #loaded: Promise<Loaded> | undefined;
  #stopWaiting: (() => void) | undefined;
  #isDisposed: boolean = false;

  constructor(options: PlannedJobsOptions) {
    this.#options = options;
  }

  /** Starts the ticks once, `START_DELAY_MS` after the first call. */
  start(): void {
    if (this.#isDisposed) return;
    this.#stopWaiting ??= this.#options.clock.every(START_DELAY_MS, () => {
      this.#stopWaiting?.();
      void this.#load().then(({ scheduler }) => scheduler.start(), this.#logFailure);
    });
  }

  async state(): Promise<CronState> {
    return (await this.#load()).requests.state();
  }

  /** `cwd`: folder for a new job that names none. Rejects with an Error in one line when the files cannot be written. */
  async act(request: CronRequest, cwd: string | undefined, signal: AbortSignal): Promise<CronOutcome> {
    return (await this.#load()).requests.act(request, cwd ?? homedir(), signal);
  }

  /** Runs everything that is due, to its end. */
  async runDue(signal: AbortSignal): Promise<readonly CronRun[]> {
    return (await this.#load()).scheduler.runDue(signal);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.#stopWaiting?.();
    await (await this.#loaded)?.scheduler.dispose();
  }

  #load(): Promise<Loaded> {
    this.#loaded ??= this.#make();
    return this.#loaded;
  }

  async #make(): Promise<Loaded> {
    const { home, clock, background, models, log } = this.#options;
    const [{ Scheduler: SchedulerClass }, { CronRequests: Requests }] = await Promise.all([
      import("../cron/scheduler.ts"),
      import("../cron/cron-requests.ts"),
    ]);
    const settings = async (): Promise<CronSettings> => (await models.configuration.read()).config.cron;
    const changed = (): void => models.client.notifyCronChanged();
    const scheduler = new SchedulerClass({
      home,
      clock,
      settings,
      changed,
      log,
      runJob: (job, opened, signal) => this.#runJob(job, opened, signal),
      finished: (run, message) => models.client.notifyCronFinished(run, message),
    });
    const requests = new Requests({
      scheduler,
      settings,
      changed,
      now: () => clock.now(),
      runBuiltIn: (_job, signal) => background.runNow(signal),
      missingSkills: (skills, workdir) => this.#missingSkills(skills, workdir),
    });
    return { scheduler, requests };
  }

  async #runJob(job: Job, opened: (sessionId: string) => void, signal: AbortSignal): Promise<JobResult> {
    const { background, models, makeAgent, version } = this.#options;
    if (models.isLoggedOut) throw new Error("You are logged out; log in first.");
    const { isFolder } = await import("../cron/cron-requests.ts");
    if (!(await isFolder(job.workdir)))
      throw new Error(`There is no folder ${job.workdir}. Create it, or change the job.`);
    const missing = await this.#missingSkills(job.skills, job.workdir);
    if (missing.length > 0) throw new Error(`There is no skill ${missing.join(", ")}. Add it, or change the job.`);
    const { runJobSession } = await import("../cron/scheduler.ts");
    const turnEnded = background.beginTurn();
    const { environment } = models.configuration;
    const { app, dispose } = makeAgent({ environment, job: { models: models.client.models } });
    const info = { name: "hermes-job", title: "a planned job", version };
    const model = job.model ?? models.lastModel;
    const announced = (sessionId: string): void => {
      opened(sessionId);
      models.client.notifySessionsChanged();
    };
    try {
      return await runJobSession(app, { job, model, info, opened: announced }, signal);
    } finally {
      await dispose();
      turnEnded();
      models.client.notifySessionsChanged();
    }
  }

  /** Skills that no place has. Those of plugins are known only in a session, so that with plugins nothing is missing. */
  async #missingSkills(skills: readonly string[], workdir: string): Promise<readonly string[]> {
    if (skills.length === 0) return [];
    const { home, models } = this.#options;
    const { config } = await models.configuration.read();
    if (config.plugins.enabled.length > 0) return [];
    const [{ externalPlaces, projectPlaces, scanPlace }, { bundled }] = await Promise.all([
      import("../skills/skill-places.ts"),
      import("../skills/bundled.gen.ts"),
    ]);
    const own = { source: "home" as const, folder: skillsFolder(home), shown: "home" };
    const places = [own, ...projectPlaces([workdir]), ...externalPlaces(config.skills.externalDirs, home)];
    const found = (await Promise.all(places.map(scanPlace))).flatMap((place) => place.skills);
    const names = new Set([...found, ...bundled].map(({ name }) => name));
    return skills.filter((name) => !names.has(name));
  }

  readonly #logFailure = (error: unknown): void => {
    this.#options.log(`planned jobs could not start: ${String(error)}`);
  };
}
