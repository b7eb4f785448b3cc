/** `hermes cron` and `hermes learning`: requests to an agent in this process, by the methods that every editor uses. */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type AgentApp, type ClientContext, client, methods } from "@zed-industries/agent-client-protocol";
import { learntAction, stateText } from "../acp/commands/learning-answers.ts";
import { COMMAND_LINE } from "../acp/connected-client.ts";
import { endedRunText, jobsText, runText } from "../cron/jobs-text.ts";
import { reportText } from "../learning/stored-reports.ts";
import { CRON_ACTIONS, CronDelivery, type CronOutcome, type CronRequest, cronMethods } from "../protocol/cron.ts";
import { onAgentNotification } from "../protocol/handle.ts";
import { LearntAction, learningMethods } from "../protocol/learning.ts";
import { call } from "../protocol/method.ts";
import { ownWords, unknownVerb } from "./command-line.ts";
import { VERSION } from "./version.ts";

const INTERRUPTED = 130;
/** Runs that `hermes cron status` lists. */
const LISTED_RUNS = 10;

const LEARNING_QUERIES = ["state", "run", "report"] as const;
const LEARNING_SYNTAX =
  "`hermes learning keep|both|forget|undo|pin|unpin ID`, `hermes learning keep|forget waiting`, `hermes learning run`, or `hermes learning report`";
const QUERIES = ["list", "status", "tick"] as const;

/** Does the request with the agent, and returns the exit code. */
type Work = (agent: ClientContext, io: JobsOutput & { readonly signal: AbortSignal }) => Promise<number>;

/** Results go to `say`, failures and progress to `report`. */
type JobsOutput = Readonly<Record<"say" | "report", (line: string) => void>>;

export type JobsLine = { readonly kind: "jobs"; readonly work: Work };

/** Undefined for a question for help. Throws an Error in one line for invalid words. */
export function parseJobsLine([command = "", verb = "", ...args]: readonly string[]): JobsLine | undefined {
  if (verb === "help" || [verb, ...args].some((word) => word === "--help" || word === "-h")) return undefined;
  if (command === "learning") {
    return { kind: "jobs", work: learningLine(verb || "state", args) };
  }
  const query = QUERIES.find((each) => each === (verb || "list"));
  if (query !== undefined && args.length === 0) return { kind: "jobs", work: queries[query] };
  const action = CRON_ACTIONS.find((each) => each === verb);
  if (action !== undefined) return { kind: "jobs", work: actionWork(requestIn(action, args)) };
  throw new Error(unknownVerb(command, [...QUERIES, ...CRON_ACTIONS], [verb, ...args]));
}

function learningLine(verb: string, args: readonly string[]): Work {
  const [id, ...others] = args;
  const query = LEARNING_QUERIES.find((each) => each === verb);
  if (query !== undefined && id === undefined) return learningWork[query];
  const action = learntAction(verb);
  if (action === undefined || others.length > 0)
    throw new Error(unknownVerb("learning", [...LEARNING_QUERIES, "keep", ...LearntAction.options], [verb, ...args]));
  if (id === undefined) throw new Error(`learning ${action} needs an id; hermes learning state shows them`);
  return async (agent, io) => ended(await call(agent, learningMethods.act, { id, action }), io);
}

function requestIn(action: CronRequest["action"], args: readonly string[]): CronRequest {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      name: text,
      schedule: text,
      prompt: text,
      model: text,
      deliver: text,
      cwd: text,
      skill: { ...text, multiple: true },
    },
  });
  const { cwd, skill: skills, deliver, ...named } = values;
  const isNew = action === "create";
  const [first, second] = positionals;
  const placed = isNew ? { schedule: first, prompt: second } : { job: first };
  const given = { ...placed, ...named, skills, workdir: isNew || cwd !== undefined ? resolve(cwd ?? ".") : undefined };
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (isNew && (first ?? values.schedule) === undefined)
    throw new Error(`cron create needs a schedule, such as "every 2h"`);
  if (!isNew && first === undefined) throw new Error(`cron ${action} needs a job; hermes cron list shows them`);
  if (positionals.length > (isNew ? 2 : 1)) throw new Error(`cron ${action}: put each text into quotes`);
  return {
    action,
    ...defined,
    ...(deliver !== undefined && { deliver: deliveryOf(deliver) }),
    ...(action === "run" && { wait: true }),
  };
}

function deliveryOf(text: string): CronDelivery {
  const { data } = CronDelivery.safeParse(text);
  if (data === undefined) throw new Error(`--deliver ${text}: expected ${CronDelivery.options.join(" or ")}`);
  return data;
}

function actionWork(request: CronRequest): Work {
  return async (agent, io) => ended(await call(agent, cronMethods.act, request, { cancellationSignal: io.signal }), io);
}

/** Returns the exit code. */
function ended({ ok, message }: CronOutcome, { say, report }: JobsOutput): number {
  if (ok) say(message);
  else report(`hermes: ${message}`);
  return ok ? 0 : 1;
}

const queries: Readonly<Record<(typeof QUERIES)[number], Work>> = {
  async list(agent, { say }) {
    say(jobsText(await call(agent, cronMethods.list, {})));
    return 0;
  },
  async status(agent, { say }) {
    const { enabled, zone, jobs, runs } = await call(agent, cronMethods.list, {});
    const active = jobs.filter(({ state }) => state === "active" || state === "running").length;
    say(`Planned jobs are ${enabled ? "on" : "off"}: ${active} of ${jobs.length} active. Time zone: ${zone}.`);
    say("They run while a window or an agent of this home is open, and with `hermes cron tick`.");
    for (const run of runs.slice(0, LISTED_RUNS)) say(`- ${run.name}: ${runText(run, zone)} ${run.summary}`.trimEnd());
    return 0;
  },
  /** The lines of the runs come as notifications, each at its end. */
  async tick(agent, { signal }) {
    const { runs } = await call(agent, cronMethods.tick, {}, { cancellationSignal: signal });
    return runs.every(({ state }) => state === "completed") ? 0 : 1;
  },
};

const learningWork: Readonly<Record<(typeof LEARNING_QUERIES)[number], Work>> = {
  async state(agent, { say }) {
    const shown = { cwd: process.cwd(), syntax: LEARNING_SYNTAX };
    say(stateText(await call(agent, learningMethods.state, {}), "", shown));
    return 0;
  },
  async run(agent, { say, signal }) {
    say((await call(agent, learningMethods.run, {}, { cancellationSignal: signal })).message);
    return 0;
  },
  async report(agent, io) {
    const [newest] = (await call(agent, learningMethods.reports, { count: 1 })).reports;
    const message = newest === undefined ? "there is no health report yet." : reportText(newest);
    return ended({ ok: newest !== undefined, message }, io);
  },
};

/** Returns the exit code. */
export async function runJobsCommand(app: AgentApp, { work }: JobsLine, { say, report }: JobsOutput): Promise<number> {
  const cancel = new AbortController();
  const interrupt = (): void => cancel.abort();
  process.on("SIGINT", interrupt);
  const us = client({ name: COMMAND_LINE });
  onAgentNotification(us, cronMethods.finished, ({ params: { run } }) => say(endedRunText(run)));
  onAgentNotification(us, learningMethods.changed, ({ params: { message } }) => {
    if (message !== undefined) report(message);
  });
  try {
    return await us.connectWith(app, async (agent) => {
      await agent.request(methods.agent.initialize, {
        protocolVersion: 1,
        clientInfo: { name: COMMAND_LINE, title: "the command line", version: VERSION },
        // Notifications about runs and learning go to clients with lists of sessions.
        clientCapabilities: { _meta: { hermes: { sessionIndex: true } } },
      });
      return work(agent, { say, report, signal: cancel.signal });
    });
  } catch (error) {
    report(`hermes: ${cancel.signal.aborted ? "interrupted." : ownWords(error)}`);
    return cancel.signal.aborted ? INTERRUPTED : 1;
  } finally {
    process.off("SIGINT", interrupt);
  }
}
