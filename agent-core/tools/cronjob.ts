import * as z from "zod";
import type { Effect } from "../approval/decision.ts";
import { messageOf } from "../platform/errors.ts";
import { CRON_ACTIONS } from "../protocol/cron.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const text = z.string().exactOptional();

const input = z.object({
  action: z.enum(["list", ...CRON_ACTIONS]),
  name: text,
  schedule: text.describe("30m (once), every 2h, five cron fields, or an ISO time"),
  prompt: text.describe("The whole task: the job's session knows nothing of this one"),
  skills: z.array(z.string()).exactOptional(),
  workdir: text.describe("Default: this folder"),
  model: text.describe("provider:model"),
  deliver: text.describe("notify, none, or a chat as platform:id"),
});

type Call = z.infer<typeof input>;

export const tool = defineTool({
  name: "cronjob",
  toolset: "cronjob",
  kind: "other",
  readOnly: false,
  need: "rare",
  description:
    "Plan tasks that run later in sessions of their own, with nobody to ask. For reminders and recurring work.",
  input,
  title: ({ action, name = "", schedule }) => {
    const what = [action === "list" ? "List jobs" : `${action} job`, name, schedule && `(${schedule})`];
    return shortTitle(
      what
        .filter(Boolean)
        .join(" ")
        .replace(/^./, (first) => first.toUpperCase()),
    );
  },
  effect: (call, cwd) => effectOf(call, cwd),
  run,
});

function effectOf(
  { action, name = "", schedule, prompt, workdir, skills = [], model, deliver }: Call,
  cwd: string,
): Effect {
  if (action === "list") return { kind: "none" };
  if (action === "pause" || action === "remove") {
    return { kind: "job", reasons: [`Planned jobs change: ${action} ${JSON.stringify(name)}`] };
  }
  const facts = [
    schedule !== undefined && `Schedule: ${schedule}`,
    // In full: the part that a question left out would run unseen.
    prompt !== undefined && `Task: ${prompt}`,
    (action === "create" || workdir !== undefined) && `Folder: ${workdir ?? cwd}`,
    skills.length > 0 && `Skills: ${skills.join(", ")}`,
    model !== undefined && `Model: ${model}`,
    deliver !== undefined && `Result goes to: ${deliver}`,
  ].filter((fact) => typeof fact === "string");
  const first = `${action === "create" ? "A new job" : `The job ${JSON.stringify(name)}`} works later without you, with the permissions of the mode code`;
  return { kind: "job", reasons: [first, ...facts] };
}

async function run({ action, ...values }: Call, { cron, cwd, signal }: ToolContext): Promise<ToolResult> {
  if (cron === undefined) return { ok: false, text: "cronjob: this session cannot plan jobs." };
  const { jobsText } = await import("../cron/jobs-text.ts");
  if (action === "list") return { ok: true, text: jobsText(await cron.state()) };
  try {
    const { ok, message } = await cron.act({ action, ...values }, cwd, signal);
    return { ok, text: message };
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, text: `cronjob: ${messageOf(error)}` };
  }
}
