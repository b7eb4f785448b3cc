/** A planned job and the record of a run, as the files have them, with the built-in jobs. */
import * as z from "zod";
import { CronDelivery, CronRun } from "../protocol/cron.ts";
import type { Rule } from "./schedule.ts";

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

export const jobSchema = z.object({
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

/** The protocol's record of a run, with the states and facts that only the ledger has. */
export const recordSchema = CronRun.extend({
  planned: instant,
  started: instant,
  ended: instant.exactOptional(),
  state: z.enum(["claimed", ...CronRun.shape.state.options]),
  /** Started by hand: it is no planned instant of the rule. */
  manual: z.boolean(),
});
export type RunRecord = z.infer<typeof recordSchema>;

/** Loops that learn, which run once a day. */
export const BUILT_IN = ["distillation", "report"] as const;
export type BuiltIn = (typeof BUILT_IN)[number];
const TITLES: Readonly<Record<BuiltIn, string>> = {
  distillation: "Make skills from repeated work",
  report: "Daily health report",
};

export function isBuiltIn(id: string): id is BuiltIn {
  return BUILT_IN.some((known) => known === id);
}

/** Time at which users rarely work. */
const DAILY = "30 3 * * *";
const DAILY_RULE: Rule = { kind: "cron", fields: DAILY };

/** Records that the ledger keeps of each job when it is shortened. */
export const KEPT_RUNS = 50;

export function builtInJob(id: BuiltIn, zone: string): Job {
  return {
    id,
    name: TITLES[id],
    schedule: DAILY,
    rule: DAILY_RULE,
    zone,
    since: 0,
    paused: false,
    prompt: "",
    skills: [],
    workdir: "",
    deliver: "none",
  };
}

/** The job with its present title, which the file of an earlier version does not have. */
export function titled(job: Job): Job {
  return isBuiltIn(job.id) ? { ...job, name: TITLES[job.id] } : job;
}

/** True for a built-in job that nobody has changed. */
export function isUnchanged(job: Job, zone: string): boolean {
  return isBuiltIn(job.id) && JSON.stringify(job) === JSON.stringify(builtInJob(job.id, zone));
}

/** The last planned instant that a run of the job has, or that does not count. */
export function lastPlanned(job: Job, runs: readonly RunRecord[]): number {
  const planned = runs.filter((run) => run.job === job.id && !run.manual).map((run) => run.planned);
  return Math.max(job.since, ...planned);
}
