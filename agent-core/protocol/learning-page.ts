/** Messages between the extension and the page "Hermes: Learning". Both sides exchange whole states: they are small. */
import * as z from "zod";
import { CronState } from "./cron.ts";
import { HealthReport, LearningState, LearningSwitch, LearntAction } from "./learning.ts";

const id = z.string().max(500);

export const LearningSection = z.enum(["report", "learnt", "skills", "jobs", "settings"]);
export type LearningSection = z.infer<typeof LearningSection>;

export const JobAction = z.enum(["pause", "resume", "run", "remove"]);
export type JobAction = z.infer<typeof JobAction>;

/** From the page: intents, never paths or command ids. */
export const LearningPageMessage = z.discriminatedUnion("type", [
  /** The page runs, or the user asks for the data again. */
  z.object({ type: z.literal("ready") }),
  /** `id`: of an item or a recommendation. */
  z.object({ type: z.literal("act"), id, action: LearntAction }),
  z.object({ type: z.literal("switch"), name: LearningSwitch, on: z.boolean() }),
  z.object({ type: z.literal("learn") }),
  z.object({ type: z.literal("job"), id, action: JobAction }),
  z.object({ type: z.literal("open-session"), sessionId: id }),
  z.object({ type: z.literal("open-item"), id }),
  z.object({ type: z.literal("open-place"), place: z.enum(["folder", "config"]) }),
  z.object({ type: z.literal("set-up-model") }),
]);
export type LearningPageMessage = z.infer<typeof LearningPageMessage>;

export const LearningData = z.object({
  state: LearningState,
  /** Newest first. */
  reports: z.array(HealthReport).readonly(),
  /** Null for an agent without planned jobs. */
  cron: CronState.nullable(),
  /** Titles of the sessions that items, reports and runs name. A session that no longer exists is missing. */
  titles: z.record(z.string(), z.string()),
});
export type LearningData = z.infer<typeof LearningData>;

/** To the page. */
export const LearningHostMessage = z.discriminatedUnion("type", [
  z.object({ type: z.literal("data"), data: LearningData }),
  /** The data cannot be read; `message`: one line. */
  z.object({ type: z.literal("failed"), message: z.string() }),
  /** Outcome of an action in one line. `about`: id of the item or job, name of the switch, or `learn`. */
  z.object({ type: z.literal("acted"), about: z.string(), message: z.string(), isError: z.boolean() }),
  z.object({ type: z.literal("show"), section: LearningSection }),
]);
export type LearningHostMessage = z.infer<typeof LearningHostMessage>;
