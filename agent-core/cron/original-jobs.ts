/** Jobs of the original Hermes Agent as jobs of ours. Its table stays as it is; what has no counterpart here is named. Pure. */
import * as z from "zod";
import { newId } from "../platform/new-id.ts";
import { CronDelivery } from "../protocol/cron.ts";
import { type Job, KEPT_RUNS } from "./job.ts";
import { machineZone, type Rule } from "./schedule.ts";

/** Table of the original: jobs without our version. */
export const originalTable = z.object({
  version: z.undefined().optional(),
  jobs: z.array(z.looseObject({ id: z.string() })),
});
export type OriginalTable = z.infer<typeof originalTable>;

const text = z.string().trim().catch("");
const time = z
  .string()
  .transform((written) => Date.parse(written))
  .pipe(z.number())
  .optional()
  .catch(undefined);
const count = z.number().int().nullish().catch(undefined);

const originalJob = z.object({
  id: z.string(),
  name: text,
  prompt: text,
  skills: z.array(z.string()).catch([]),
  schedule: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("once"), run_at: z.string() }),
    z.object({ kind: z.literal("interval"), minutes: z.number().positive() }),
    z.object({ kind: z.literal("cron"), expr: z.string() }),
  ]),
  repeat: z.object({ times: count, completed: count }).nullish().catch(undefined),
  enabled: z.boolean().catch(true),
  state: text,
  next_run_at: time,
  workdir: text,
  model: text,
  provider: text,
  deliver: text,
});
type OriginalJob = z.infer<typeof originalJob>;

/** Properties that no job here has, in words. Such a job would do something else here. */
const FOREIGN: Readonly<Record<string, string>> = {
  script: "runs a script",
  no_agent: "runs a script",
  monitor_script: "runs a script",
  monitor_url: "watches an address",
  context_from: "reads the output of another job",
  base_url: "has an endpoint of its own",
  enabled_toolsets: "limits its tools",
};
/** Deliveries that a notification replaces without a loss. */
const LOCAL: ReadonlySet<string> = new Set(["", "local", "none", "notify"]);
const MAX_NAME_CHARS = 60;
const MINUTE_MS = 60_000;

export type ImportSettings = {
  readonly zone: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Folder of jobs that name none, absolute. */
  readonly workdir: string;
  /** The original runs at the moment, and runs its jobs itself. */
  readonly isOriginalRunning: boolean;
};

/** `note`: one line about what was imported, and what could not be. Undefined for a table without jobs. */
export type Imported = { readonly jobs: readonly Job[]; readonly note: string | undefined };

export function importJobs({ jobs }: OriginalTable, settings: ImportSettings): Imported {
  const made: Job[] = [];
  const remarks: string[] = [];
  for (const found of jobs) {
    const shown = JSON.stringify(typeof found["name"] === "string" ? found["name"] : found.id);
    const parsed = originalJob.safeParse(found);
    const problem = parsed.success ? problemOf(parsed.data, found) : "its schedule is unknown";
    if (!parsed.success || problem !== undefined) {
      remarks.push(`not ${shown}: ${problem}`);
      continue;
    }
    const taken = new Set(made.map(({ name }) => name.toLowerCase()));
    made.push(jobOf(parsed.data, settings, taken));
    remarks.push(...lossesOf(parsed.data).map((loss) => `${shown}: ${loss}`));
  }
  if (jobs.length === 0) return { jobs: made, note: undefined };
  const running = settings.isOriginalRunning
    ? " They are paused, because the original Hermes runs at the moment and runs them itself."
    : " The original Hermes still runs its own jobs whenever it runs: pause there what is to run here.";
  const details = remarks.length === 0 ? "" : ` ${remarks.join("; ")}.`;
  return {
    jobs: made,
    note: `Imported ${made.length} of ${jobs.length} jobs of the original Hermes, whose cron/jobs.json stays as it is.${details}${made.length === 0 ? "" : running}`,
  };
}

/** Reason why the job cannot run here. */
function problemOf(job: OriginalJob, found: Readonly<Record<string, unknown>>): string | undefined {
  const foreign = Object.keys(FOREIGN).find((key) => isSet(found[key]));
  if (foreign !== undefined) return `it ${FOREIGN[foreign]}`;
  if (job.prompt === "") return "it has no prompt";
  if (ruleOf(job, 0) === undefined) return "its time cannot be read";
  const left = runsLeft(job);
  if (job.state === "completed" || (left !== undefined && left <= 0)) return "it has ended";
  return left !== undefined && left > KEPT_RUNS
    ? `${left} runs are left, and at most ${KEPT_RUNS} are counted`
    : undefined;
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Undefined without a limit. A single time needs none. */
function runsLeft({ repeat, schedule }: OriginalJob): number | undefined {
  if (repeat?.times === undefined || repeat.times === null) return undefined;
  const left = repeat.times - (repeat.completed ?? 0);
  return schedule.kind === "once" && left > 0 ? undefined : left;
}

/** True for a chat of a named platform, which the gateway here reaches too. */
function isChat(deliver: string): boolean {
  return deliver.includes(":") && CronDelivery.safeParse(deliver).success;
}

/** Properties that the job loses. */
function lossesOf({ deliver, model, provider }: OriginalJob): readonly string[] {
  return [
    ...(LOCAL.has(deliver) || isChat(deliver) ? [] : [`its results went to ${deliver}, and are a notification here`]),
    ...(model !== "" && provider === "" ? ["it uses the configured model here"] : []),
  ];
}

function jobOf(job: OriginalJob, settings: ImportSettings, taken: ReadonlySet<string>): Job {
  const { prompt, skills, enabled, state, model, provider, schedule } = job;
  const { zone, now, workdir, isOriginalRunning } = settings;
  const left = runsLeft(job);
  return {
    id: /^[a-z0-9-]{1,40}$/.test(job.id) ? job.id : newId().slice(0, 8),
    name: freeName(job, taken),
    schedule: scheduleOf(schedule),
    rule: ruleOf(job, now) ?? { kind: "at", at: now },
    zone: zone === "" ? machineZone() : zone,
    // The original has run what was planned before, or has left it out.
    since: now,
    paused: isOriginalRunning || !enabled || state === "paused",
    prompt,
    skills,
    workdir: job.workdir === "" ? workdir : job.workdir,
    deliver: job.deliver === "none" || isChat(job.deliver) ? job.deliver : "notify",
    ...(model !== "" && provider !== "" && { model: `${provider}:${model}` }),
    ...(left !== undefined && { times: left }),
  };
}

function freeName({ name, prompt, id }: OriginalJob, taken: ReadonlySet<string>): string {
  const line = (name === "" ? prompt : name).replaceAll(/\s+/g, " ").trim().slice(0, MAX_NAME_CHARS);
  const base = line === "" ? id : line;
  return taken.has(base.toLowerCase()) ? `${base.slice(0, MAX_NAME_CHARS - id.length - 3)} (${id})` : base;
}

/** In the words of our schedules. */
function scheduleOf(schedule: OriginalJob["schedule"]): string {
  switch (schedule.kind) {
    case "once":
      return schedule.run_at;
    case "interval":
      return `every ${schedule.minutes}m`;
    case "cron":
      return schedule.expr;
  }
}

/** Undefined for a time that cannot be read. An interval continues from the next run that the original planned. */
function ruleOf({ schedule, next_run_at: next }: OriginalJob, now: number): Rule | undefined {
  switch (schedule.kind) {
    case "once": {
      const at = Date.parse(schedule.run_at);
      return Number.isNaN(at) ? undefined : { kind: "at", at };
    }
    case "interval": {
      const ms = schedule.minutes * MINUTE_MS;
      return { kind: "every", ms, from: next === undefined || Number.isNaN(next) ? now : next - ms };
    }
    case "cron":
      return schedule.expr.trim().split(/\s+/).length === 5
        ? { kind: "cron", fields: schedule.expr.trim() }
        : undefined;
  }
}
