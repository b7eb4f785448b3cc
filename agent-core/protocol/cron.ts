/** Jobs that run at planned times, and their runs. Instants are milliseconds since 1970. */
import * as z from "zod";
import { nothing } from "./method.ts";

/**
 * `running`: its process lives. `unknown`: its process ended before the run did; it is never repeated. `denied`: calls that
 * would have asked the user, and did not run.
 */
export const CronRun = z.object({
  job: z.string(),
  name: z.string(),
  /** Planned instant; for a run by hand the time of its start. */
  planned: z.number(),
  started: z.number(),
  ended: z.number().exactOptional(),
  state: z.enum(["running", "completed", "failed", "unknown"]),
  /** The run began clearly after its planned instant, because no process was there at that time. */
  late: z.boolean(),
  /** Result or reason of the failure in a sentence. */
  summary: z.string(),
  sessionId: z.string().exactOptional(),
  /** File with the output, absolute. */
  output: z.string().exactOptional(),
  denied: z.array(z.string()).readonly(),
});
export type CronRun = z.infer<typeof CronRun>;

/**
 * `notify`: a notification when a run ended. `none`: only the output file and the history. Else the answer goes to a chat, by
 * the gateway: `platform`, `platform:chat` or `platform:chat:thread`.
 */
export const CronDelivery = z.string().regex(/^[a-z][a-z0-9_-]*(?::\S+)?$/, "expected notify, none or platform:chat");
export type CronDelivery = z.infer<typeof CronDelivery>;

export const CronJob = z.object({
  id: z.string(),
  name: z.string(),
  /** As the user wrote it: `30m`, `every 2h`, `0 9 * * 1-5`, `2026-11-24T09:00`. */
  schedule: z.string(),
  /** The schedule in words, with its time zone. */
  scheduleText: z.string(),
  /** IANA name of the time zone of the schedule. */
  zone: z.string(),
  /** `ended`: a one-shot that ran, or whose time passed while missed runs are skipped. */
  state: z.enum(["active", "paused", "running", "ended"]),
  /** A loop that learns; its schedule and its pause are all that can change. */
  builtIn: z.boolean(),
  /** Missing for a job that is paused or ended. */
  next: z.number().exactOptional(),
  last: CronRun.exactOptional(),
  /** Failures in a row. */
  failures: z.number(),
  prompt: z.string(),
  skills: z.array(z.string()).readonly(),
  /** Working folder of the sessions, absolute; empty for a built-in job. */
  workdir: z.string(),
  /** `provider:model`; default: the configured one. */
  model: z.string().exactOptional(),
  deliver: CronDelivery,
});
export type CronJob = z.infer<typeof CronJob>;

export const CRON_ACTIONS = ["create", "update", "pause", "resume", "run", "remove"] as const;

/** Values of a job; those that are missing stay as they are. */
export const CronValues = z.object({
  name: z.string().exactOptional(),
  schedule: z.string().exactOptional(),
  prompt: z.string().exactOptional(),
  skills: z.array(z.string()).readonly().exactOptional(),
  workdir: z.string().exactOptional(),
  /** Empty: the configured one. */
  model: z.string().exactOptional(),
  deliver: CronDelivery.exactOptional(),
});
export type CronValues = z.infer<typeof CronValues>;

export const CronRequest = CronValues.extend({
  action: z.enum(CRON_ACTIONS),
  /** Id or name; not for `create`. Without it, `name` names the job. */
  job: z.string().exactOptional(),
  /** For `run`: the response follows the run's end. Default false. */
  wait: z.boolean().exactOptional(),
});
export type CronRequest = z.infer<typeof CronRequest>;

/** `message`: outcome in one line, with the next run in the time zone of the job. */
export const CronOutcome = z.object({ ok: z.boolean(), message: z.string(), job: CronJob.exactOptional() });
export type CronOutcome = z.infer<typeof CronOutcome>;

export const CronState = z.object({
  /** Switch `cron.enabled` of config.yaml. */
  enabled: z.boolean(),
  /** IANA name of the time zone of new jobs. */
  zone: z.string(),
  /** Built-in ones last. */
  jobs: z.array(CronJob).readonly(),
  /** The last ones of all jobs, newest first. */
  runs: z.array(CronRun).readonly(),
});
export type CronState = z.infer<typeof CronState>;

/** `message`: one line for the user; missing when the user is not to be notified. */
export const CronFinished = z.object({ run: CronRun, message: z.string().exactOptional() });
export type CronFinished = z.infer<typeof CronFinished>;

export const cronMethods = {
  list: { name: "_hermes/cron/list", params: nothing, result: CronState },
  /** A request that cannot be fulfilled gives `ok: false` and the reason. */
  act: { name: "_hermes/cron/act", params: CronRequest, result: CronOutcome },
  /** Runs everything that is due, to its end, then the loops that learn. `learnt`: false while another process learns. */
  tick: {
    name: "_hermes/cron/tick",
    params: nothing,
    result: z.object({ runs: z.array(CronRun).readonly(), learnt: z.boolean() }),
  },
  /** Agent → client: jobs or runs have changed. Only where `sessionIndex` is declared, like the next one. */
  changed: { name: "_hermes/cron/changed", params: nothing },
  /** Agent → client: a run ended. */
  finished: { name: "_hermes/cron/finished", params: CronFinished },
} as const;
