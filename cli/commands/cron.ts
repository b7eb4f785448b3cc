/** `hermes cron`. */
import { resolve } from "node:path";
import type { ClientContext } from "@zed-industries/agent-client-protocol";
import { jobsText, runText } from "../../agent-core/cron/jobs-text.ts";
import { defined } from "../../agent-core/platform/defined.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { CRON_ACTIONS, CronDelivery, type CronRequest, cronMethods } from "../../agent-core/protocol/cron.ts";
import { call } from "../../agent-core/protocol/method.ts";
import { printOutcome, withAgent } from "../agent-requests.ts";
import { EXIT, type Option, subcommand, type Values } from "../subcommand.ts";

/** Runs that `hermes cron status` lists. */
const LISTED_RUNS = 10;

const operands = "JOB";
const needs = "a job; hermes cron list shows them";
const changing = ["create", "update"];

const options = {
  name: { kind: "text", value: "NAME", verbs: changing, summary: "name of the job" },
  schedule: { kind: "text", value: "WHEN", verbs: changing, summary: 'such as 30m, "every 2h" or "0 9 * * 1-5"' },
  prompt: { kind: "text", value: "TEXT", verbs: changing, summary: "prompt of the job" },
  model: { kind: "text", value: "NAME", verbs: changing, summary: "model of the job; default: the configured one" },
  deliver: {
    kind: "text",
    value: "WHERE",
    verbs: changing,
    summary: "notify (default), none, or a chat such as telegram:12345",
  },
  cwd: {
    kind: "text",
    value: "DIR",
    verbs: changing,
    summary: "folder of the job; default of a new one: the current folder",
  },
  skill: { kind: "list", value: "NAME", verbs: changing, summary: "skill that the job reads" },
} as const satisfies Record<string, Option>;

export const command = subcommand({
  verbs: {
    list: { summary: "list the planned jobs" },
    status: { summary: "show the last runs, too" },
    tick: { summary: "run what is due, learn from ended sessions, and end" },
    create: {
      summary: 'plan a job: 30m, "every 2h", "0 9 * * 1-5" or 2026-11-24T09:00',
      operands: "[SCHEDULE] [PROMPT]",
    },
    update: { summary: "change a job", operands, needs },
    pause: { summary: "pause a job", operands, needs },
    resume: { summary: "resume a job", operands, needs },
    run: { summary: "run a job now, to its end", operands, needs },
    remove: { summary: "remove a job", operands, needs },
  },
  options,
  examples: [
    ['cron create "every 2h" "Summarise the new issues"', "plan a job in this folder"],
    ["cron tick", "run what is due, such as from the system's own scheduler"],
  ],
  run({ verb, operands: words, values }) {
    const action = CRON_ACTIONS.find((each) => each === verb);
    if (action === undefined) return withAgent(queries[verb === "status" || verb === "tick" ? verb : "list"]);
    const request = requestIn(action, words, values);
    return withAgent(async (agent, signal) =>
      printOutcome(await call(agent, cronMethods.act, request, { cancellationSignal: signal })),
    );
  },
});

function requestIn(
  action: CronRequest["action"],
  [first, second]: readonly string[],
  { cwd, skill, deliver, ...named }: Values<typeof options>,
): CronRequest {
  const isNew = action === "create";
  if (isNew && (first ?? named.schedule) === undefined)
    throw new UsageError(`cron create needs a schedule, such as "every 2h"`);
  const placed = isNew ? { schedule: first, prompt: second } : { job: first };
  const given = {
    ...placed,
    ...defined(named),
    skills: skill.length > 0 ? skill : undefined,
    workdir: isNew || cwd !== undefined ? resolve(cwd ?? ".") : undefined,
    deliver: deliver === undefined ? undefined : deliveryOf(deliver),
  };
  return { action, ...defined(given), ...(action === "run" && { wait: true }) };
}

function deliveryOf(text: string): CronDelivery {
  const { data } = CronDelivery.safeParse(text);
  if (data === undefined) throw new UsageError(`--deliver ${text}: expected notify, none or platform:chat`);
  return data;
}

const queries: Readonly<
  Record<"list" | "status" | "tick", (agent: ClientContext, signal: AbortSignal) => Promise<number>>
> = {
  async list(agent) {
    return printOutcome({ ok: true, message: jobsText(await call(agent, cronMethods.list, {})) });
  },
  async status(agent) {
    const { enabled, zone, jobs, runs } = await call(agent, cronMethods.list, {});
    const active = jobs.filter(({ state }) => state === "active" || state === "running").length;
    const lines = [
      `Planned jobs are ${enabled ? "on" : "off"}: ${active} of ${jobs.length} active. Time zone: ${zone}.`,
      "They run while a window or an agent of this home is open, and with `hermes cron tick`.",
      ...runs.slice(0, LISTED_RUNS).map((run) => `- ${run.name}: ${runText(run, zone)} ${run.summary}`.trimEnd()),
    ];
    return printOutcome({ ok: true, message: lines.join("\n") });
  },
  /** The lines of the runs come as notifications, each at its end. */
  async tick(agent, signal) {
    const { runs } = await call(agent, cronMethods.tick, {}, { cancellationSignal: signal });
    return runs.every(({ state }) => state === "completed") ? EXIT.done : EXIT.failed;
  },
};
