/** `hermes rollouts`: runs an environment, serves its rollouts to a trainer, or evaluates it. */
import { appendFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { pythonJson } from "../../agent-core/platform/python-json.ts";
import { EXIT, type Values } from "../../cli/subcommand.ts";
import type { CommandIo } from "../run-batch.ts";
import { Stopping } from "../stopping.ts";
import type { RunSettings } from "../task.ts";
import { configuredModel, readTaskBase } from "../task-config.ts";
import { TaskFolders } from "../task-folders.ts";
import { rowOf } from "../trajectories/row.ts";
import { Atropos, type Registration } from "./atropos.ts";
import { loadEnvironment } from "./environment.ts";
import { type GroupOptions, isEqual, type Rollout, runGroup } from "./groups.ts";
import type { rolloutOptions } from "./rollout-options.ts";
import { tokenSequence } from "./token-sequence.ts";

type RolloutValues = Values<typeof rolloutOptions>;

/** Wait for a trainer that has not begun, or has enough. Milliseconds. */
const WAIT_MS = 2_000;
/** Groups that may wait at the trainer. */
const MAX_QUEUED = 64;

type Job = {
  readonly options: GroupOptions;
  readonly values: RolloutValues;
  readonly stopping: Stopping;
  readonly note: (text: string) => void;
};

/** Returns the exit code. Rejects with an Error in one line, a UsageError for a wrong command line. */
export async function runRollouts(verb: string, values: RolloutValues, io: CommandIo): Promise<number> {
  if (values.env === undefined) throw new UsageError("--env is missing: give the file of an environment");
  const environment = await loadEnvironment(values.env);
  const base = await readTaskBase(io.environment);
  const note = (text: string): void => io.report(`${text}\n`);
  const size = verb === "evaluate" ? 1 : values["group-size"];
  const settings = settingsOf(values, configuredModel(base), verb === "serve");
  const folders = new TaskFolders();
  const stopping = new Stopping(note);
  const options: GroupOptions = {
    ...{ environment, settings, base, folders, size },
    toolsets: values.toolsets.split(",").map((name) => name.trim()),
    log: (line) => values.verbose && note(line),
    ...(io.backOff && { backOff: io.backOff }),
  };
  const job: Job = { options, values, stopping, note };
  try {
    await environment.setup?.({ split: values.split });
    if (verb === "serve") return await serve(job);
    return await (verb === "evaluate" ? evaluate(job, io.say) : run(job, io.say));
  } finally {
    stopping.dispose();
    await folders.dispose();
  }
}

function settingsOf(values: RolloutValues, configured: string | undefined, needsTokens: boolean): RunSettings {
  const model = values.model ?? configured;
  return {
    distribution: "rollouts",
    maxTurns: values["max-turns"],
    timeoutMs: values["task-timeout"],
    retries: 0,
    atif: false,
    appendOnly: true,
    ...((needsTokens || values["token-ids"]) && { tokens: true }),
    ...(model !== undefined && { model }),
    ...(values["workdir-template"] !== undefined && { template: values["workdir-template"] }),
  };
}

/** Items until the environment, `--count` or a signal ends them. */
async function* items({ options: { environment }, values, stopping }: Job): AsyncGenerator<unknown> {
  const count = values.count ?? Number.POSITIVE_INFINITY;
  for (let given = 0; given < count && !stopping.stop.aborted; given += 1) {
    const item = await environment.nextItem();
    if (item === undefined || item === null) return;
    yield item;
  }
}

async function run(job: Job, say: (text: string) => void): Promise<number> {
  const { options, values, stopping, note } = job;
  const sums = { groups: 0, kept: 0, rollouts: 0, failed: 0, reward: 0 };
  await mkdir(dirname(values.output), { recursive: true });
  for await (const item of items(job)) {
    const group = await runGroup(item, options, stopping.cancel);
    sums.groups += 1;
    count(group, sums);
    if (isEqual(group) && !values["keep-equal"]) {
      note(`group ${sums.groups}: all rewards are ${group[0]?.reward ?? "missing"}, left out`);
      continue;
    }
    sums.kept += 1;
    await appendFile(values.output, group.map((rollout) => `${lineOf(rollout, sums.groups)}\n`).join(""));
    note(`group ${sums.groups}: ${group.map(({ reward }) => reward ?? "failed").join(", ")}`);
  }
  return ended(job, sums, say);
}

/** Prints the sums. Returns the exit code. */
function ended({ stopping }: Job, sums: Sums, say: (text: string) => void): number {
  const { rollouts, failed, reward } = sums;
  say(`${JSON.stringify({ ...sums, mean_reward: rollouts === failed ? null : reward / (rollouts - failed) })}\n`);
  if (stopping.stop.aborted) return EXIT.interrupted;
  return failed === 0 ? EXIT.done : EXIT.failed;
}

type Sums = { rollouts: number; failed: number; reward: number };

function count(group: readonly Rollout[], sums: Sums): void {
  for (const { reward } of group) {
    sums.rollouts += 1;
    if (reward === undefined) sums.failed += 1;
    else sums.reward += reward;
  }
}

/** The original's fields of a trajectory, with the reward. */
function lineOf({ item, reward, error, result }: Rollout, group: number): string {
  return pythonJson({ ...rowOf(result, Date.now()), group, reward: reward ?? null, error, item });
}

async function evaluate(job: Job, say: (text: string) => void): Promise<number> {
  const { options, stopping, note } = job;
  const sums = { rollouts: 0, failed: 0, reward: 0 };
  const own = await options.environment.evaluate?.();
  for await (const item of own ?? items(job)) {
    if (stopping.stop.aborted) break;
    const group = await runGroup(item, options, stopping.cancel);
    count(group, sums);
    for (const { reward, error } of group) note(error ?? `reward ${reward}`);
  }
  return ended(job, sums, say);
}

async function serve(job: Job): Promise<number> {
  const { options, values, stopping, note } = job;
  const atropos = new Atropos(values.atropos);
  const maxTokens = values["max-token-length"];
  const registration = await register(atropos, job, maxTokens);
  if (registration === undefined) return EXIT.interrupted;
  note(`Registered as environment ${registration.envId}.`);
  try {
    for await (const item of items(job)) {
      if (!(await hasRoom(atropos, registration, stopping))) break;
      const group = await runGroup(item, options, stopping.cancel);
      const scored = group.filter(({ reward }) => reward !== undefined);
      if (scored.length === group.length && (values["keep-equal"] || !isEqual(group))) {
        await sendGroup(scored, { atropos, envId: registration.envId, maxTokens, note });
      } else note(`a group was left out: ${group.map(({ reward, error }) => error ?? reward).join(", ")}`);
    }
  } finally {
    await atropos.leave(registration.envId).catch(() => undefined);
  }
  return stopping.isInterrupted ? EXIT.interrupted : EXIT.done;
}

/** Waits until the trainer has begun. Undefined after a signal. */
async function register(
  atropos: Atropos,
  { options, stopping, note }: Job,
  maxTokens: number,
): Promise<Registration | undefined> {
  const { environment, size } = options;
  let registration = await atropos.register(environment.name, size, maxTokens);
  if (registration === undefined) note("Waiting for the trainer to begin.");
  while (registration === undefined && !stopping.stop.aborted) {
    await delay(WAIT_MS, undefined, { signal: stopping.stop }).catch(() => undefined);
    registration = await atropos.register(environment.name, size, maxTokens);
  }
  return registration;
}

/** Waits while the trainer has enough groups. False when it has done its steps, and after a signal. */
async function hasRoom(atropos: Atropos, { envId, steps }: Registration, { stop }: Stopping): Promise<boolean> {
  while (!stop.aborted) {
    const { step, queued } = await atropos.status(envId);
    if (steps !== undefined && step >= steps) return false;
    if (queued < MAX_QUEUED) return true;
    await delay(WAIT_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  return false;
}

type Delivery = {
  readonly atropos: Atropos;
  readonly envId: number;
  readonly maxTokens: number;
  readonly note: (text: string) => void;
};

async function sendGroup(group: readonly Rollout[], { atropos, envId, maxTokens, note }: Delivery): Promise<void> {
  const sequences = group.map(({ result }) => tokenSequence(result.steps));
  const whole = sequences.filter((sequence) => sequence !== undefined);
  if (whole.length < group.length) {
    throw new Error(
      "the model server sent no token ids, which training needs. Use one with return_token_ids, such as vLLM.",
    );
  }
  if (whole.some(({ tokens }) => tokens.length > maxTokens)) {
    note(`a group was left out: a conversation is longer than ${maxTokens} tokens`);
    return;
  }
  const messages = group.map(({ result }) =>
    result.conversations.map(({ from, value }) => ({ role: from, content: value })),
  );
  await atropos.send(envId, { sequences: whole, scores: group.map(({ reward = 0 }) => reward), messages });
}
