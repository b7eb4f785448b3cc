/** Jobs and runs as text for people and models: lists, results, and the words of a command. */
import type { CronJob, CronRequest, CronRun, CronState } from "../protocol/cron.ts";
import { instantText, machineZone } from "./schedule.ts";

/** The jobs in lines, with the time zone of new ones. */
export function jobsText({ jobs, zone, enabled }: CronState): string {
  const lines = jobs.map((job) => `- ${jobLine(job)}`);
  const off = enabled ? "" : " Jobs are off: `cron.enabled` in config.yaml.";
  return [lines.join("\n"), `Time zone of new jobs: ${zone}.${off}`].filter(Boolean).join("\n\n");
}

function jobLine({ name, id, builtIn, scheduleText, state, next, zone, last, failures }: CronJob): string {
  const facts = [
    `${name} [${id}${builtIn ? ", built in" : ""}]`,
    scheduleText,
    state,
    next === undefined ? undefined : nextText(next, zone, builtIn),
    last === undefined ? undefined : `last: ${runText(last, zone)}`,
    failures > 1 ? `${failures} failures in a row` : undefined,
  ];
  return facts.filter((fact) => fact !== undefined).join(" · ");
}

/** A new home has missed no run of a built-in job: it begins with one. */
function nextText(next: number, zone: string, builtIn: boolean): string {
  if (next >= Date.now()) return `next ${instantText(next, zone)}`;
  return builtIn ? "next when Hermes is idle" : `due since ${instantText(next, zone)}`;
}

/** Result of a run with its times: both of them for a late one. */
export function runText({ state, planned, started, late }: CronRun, zone: string): string {
  if (!late) return `${state} ${instantText(started, zone)}`;
  return `${state} late: planned ${instantText(planned, zone)}, run ${instantText(started, zone)}`;
}

/** One line about a run that ended, with times of the machine's zone. */
export function endedRunText(run: CronRun): string {
  const { name, summary, denied, output } = run;
  const refusals = denied.length === 0 ? undefined : `denied: ${denied.join("; ")}`;
  return [`${name}: ${runText(run, machineZone())}`, summary, refusals, output].filter(Boolean).join(" · ");
}

/** Verbs that take nothing but a job. */
const NAMED = ["pause", "resume", "run", "remove"] as const;

/** `30m Say hello`, `every 2h …`, `"0 9 * * *" …`. */
const CREATE = /^(?:"([^"]+)"|(every \S+)|(?!every\b)(\S+))\s+([\s\S]+)$/;

/** The request in the words after `/cron`; undefined when they are not a request. */
export function requestIn(words: string): CronRequest | undefined {
  const [, verb = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(words.trim()) ?? [];
  const action = NAMED.find((known) => known === verb);
  if (action !== undefined) return rest === "" ? undefined : { action, job: rest.replace(/^"(.*)"$/, "$1") };
  const [, quoted, interval, word, prompt] = verb === "create" ? (CREATE.exec(rest) ?? []) : [];
  const schedule = quoted ?? interval ?? word;
  return schedule === undefined || prompt === undefined ? undefined : { action: "create", schedule, prompt };
}
