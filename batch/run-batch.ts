/** `hermes batch`: from the command line to the files of a run, and its status. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { Environment } from "../agent-core/config/home.ts";
import { counted } from "../agent-core/platform/counted.ts";
import { messageOf, UsageError } from "../agent-core/platform/errors.ts";
import { parseJson } from "../agent-core/platform/json.ts";
import { oneLine } from "../agent-core/platform/one-line.ts";
import { statOf } from "../agent-core/platform/paths.ts";
import { EXIT } from "../cli/subcommand.ts";
import { type BatchLine, type BatchValues, readBatchLine } from "./batch-options.ts";
import { type DataSet, inBatches, planTasks, readDataSet } from "./data-set.ts";
import { type Engine, inProcess } from "./engines/in-process.ts";
import { overQueue } from "./engines/queue.ts";
import { openQueue, QueueOutOfReachError } from "./engines/queue-connection.ts";
import { Progress } from "./progress.ts";
import { type Done, RunFolder, RunInUseError, readTally, writerOf } from "./run-folder.ts";
import { RunState } from "./run-state.ts";
import { Stopping } from "./stopping.ts";
import type { Task } from "./task.ts";
import { configuredModel, readTaskBase, type TaskBase } from "./task-config.ts";

export type CommandIo = {
  readonly environment: Environment;
  readonly say: (text: string) => void;
  readonly report: (text: string) => void;
  /** The standard error is a terminal. */
  readonly isTerminal: boolean;
  /** Delay before a retry of a task. Milliseconds; default: grows from 15 seconds on. */
  readonly backOff?: (attempt: number) => number;
};

/** Returns the exit code. Rejects with an Error in one line, a UsageError for a wrong command line. */
export async function runBatch(values: BatchValues, io: CommandIo): Promise<number> {
  const key = values["api-key"];
  const base = await readTaskBase({ ...io.environment, ...(key !== undefined && { HERMES_API_KEY: key }) });
  const line = await readBatchLine(values, configuredModel(base));
  try {
    return await prepare(line, base, io);
  } catch (error) {
    if (!(error instanceof RunInUseError || error instanceof QueueOutOfReachError)) throw error;
    io.report(`hermes: ${error.message}\n`);
    return EXIT.tryAgain;
  }
}

async function prepare(line: BatchLine, base: TaskBase, io: CommandIo): Promise<number> {
  const data = await readDataSet(line.dataSet, line["max-samples"]);
  for (const problem of data.problems) io.report(`${problem}\n`);
  if (data.rows.length === 0) throw new UsageError(`${line.dataSet} has no valid task.`);
  const tasks = planTasks(data.rows, line);
  if (line["dry-run"]) {
    io.say(dryText(tasks, line));
    return data.problems.length > 0 ? EXIT.failed : EXIT.done;
  }
  const folder = new RunFolder(join(line.out, line.name), line["keep-without-reasoning"]);
  try {
    return await runIn(folder, { line, base, io, tasks, data });
  } finally {
    folder.close();
  }
}

function dryText(tasks: readonly Task[], { batchSize, ...values }: BatchLine): string {
  const batches = Math.ceil(tasks.length / batchSize);
  const shown = tasks.slice(0, 10).map(({ index, sample, toolsets, prompt }) => {
    return `  [${index}${sample > 0 ? `.${sample}` : ""}] ${toolsets.join(",")}: ${oneLine(prompt, values["log-prefix-chars"])}`;
  });
  const more = tasks.length > shown.length ? [`  … ${tasks.length - shown.length} more`] : [];
  const head = `${counted(tasks.length, "task")} in ${batches === 1 ? "1 batch" : `${batches} batches`}, ${values["num-workers"]} at a time`;
  return `${[head, ...shown, ...more].join("\n")}\n`;
}

type Run = {
  readonly line: BatchLine;
  readonly base: TaskBase;
  readonly io: CommandIo;
  readonly tasks: readonly Task[];
  readonly data: DataSet;
};

async function runIn(folder: RunFolder, run: Run): Promise<number> {
  const { line, io, tasks, data } = run;
  if (folder.hasResults && !line.resume) {
    throw new UsageError(
      `${folder.path} has results already. Continue it with --resume, or choose another --run_name.`,
    );
  }
  const beganAt = Date.now();
  const done = await folder.readDone().catch((error: unknown) => {
    throw new Error(`${folder.path} cannot be read: ${messageOf(error)}`);
  });
  const left = inBatches(remaining(tasks, done), line.batchSize);
  const output = { write: io.report, isTerminal: io.isTerminal, now: () => performance.now() };
  const progress = new Progress(line.progress, output, tasks.length - left.length);
  if (line.resume) progress.note(`${tasks.length - left.length} of ${counted(tasks.length, "task")} are done.`);
  const stopping = new Stopping((text) => progress.note(text));
  const state = new RunState({ folder, line, progress, tasks, left, stopping, spentUsd: done.costUsd });
  const problem = left.length === 0 ? undefined : await work(run, { left, state, stopping, progress });
  stopping.dispose();
  progress.show(state.counts, true);
  for (const text of [problem, state.problem]) if (text !== undefined) progress.note(`hermes batch: ${text}`);
  const isMerged = await finish(folder, run, { beganAt, progress });
  if (stopping.isInterrupted) return EXIT.interrupted;
  const isWhole = isMerged && problem === undefined && state.isComplete && data.problems.length === 0;
  return isWhole ? EXIT.done : EXIT.failed;
}

/** Writes the merged files. False when they could not be written. */
async function finish(
  folder: RunFolder,
  { line, tasks }: Run,
  { beganAt, progress }: { readonly beganAt: number; readonly progress: Progress },
): Promise<boolean> {
  const facts = {
    name: line.name,
    distribution: line.settings.distribution,
    prompts: tasks.length,
    batches: Math.ceil(tasks.length / line.batchSize),
    batchSize: line.batchSize,
    model: line.settings.model ?? "",
    beganAt,
    now: Date.now(),
  };
  try {
    const { results, failures, discarded } = await folder.finish(facts, line.format !== "atif");
    const without = discarded === 0 ? "" : `, ${discarded} without reasoning left out`;
    const failed = failures === 0 ? "" : `, ${failures} failed`;
    progress.note(`${counted(results, "result")} in ${folder.path}${without}${failed}.`);
    return true;
  } catch (error) {
    progress.note(`hermes batch: ${folder.path} could not be finished: ${messageOf(error)}`);
    return false;
  }
}

/** Tasks without a result. A line of the original stands for one task with its words. */
function remaining(tasks: readonly Task[], { keys, prompts }: Done): readonly Task[] {
  const others = new Map(prompts);
  return tasks.filter(({ key, prompt }) => {
    if (keys.has(key)) return false;
    const count = others.get(prompt.trim()) ?? 0;
    others.set(prompt.trim(), count - 1);
    return count <= 0;
  });
}

type Work = {
  readonly left: readonly Task[];
  readonly state: RunState;
  readonly stopping: Stopping;
  readonly progress: Progress;
};

/** Returns the reason why the run ended early, in one line. */
async function work(run: Run, { left, state, stopping, progress }: Work): Promise<string | undefined> {
  const { stop, cancel } = stopping;
  let engine: Engine | undefined;
  try {
    const log = (text: string): void => {
      if (run.line.verbose) progress.note(oneLine(text, 300));
    };
    engine = await engineOf(run, state, (text) => progress.note(text));
    await engine.run(left, { onResult: (result) => state.take(result), stop, cancel, log });
    return undefined;
  } catch (error) {
    if (error instanceof QueueOutOfReachError || error instanceof UsageError) throw error;
    return `${messageOf(error)} Continue with --resume.`;
  } finally {
    await engine?.dispose();
  }
}

async function engineOf({ line, base, io }: Run, state: RunState, note: (text: string) => void): Promise<Engine> {
  if (line.queue === undefined) return inProcess(base, line["num-workers"], io.backOff);
  const queue = await openQueue(line.queue, io.environment["HERMES_QUEUE_PASSWORD"]);
  for (const warning of queue.warnings) note(`hermes: ${warning}`);
  return overQueue({ queue, run: state.runId });
}

const statisticsSchema = z.looseObject({ total_prompts: z.number(), completed_at: z.string(), model: z.string() });

/** Returns the exit code: 1 while the run is not whole. Rejects with a UsageError for a missing run. */
export async function showStatus(
  name: string,
  { out, isJson, say }: { readonly out: string; readonly isJson: boolean; readonly say: (text: string) => void },
): Promise<number> {
  const folder = statOf(join(out, name)) === undefined ? name : join(out, name);
  if (statOf(folder)?.isDirectory() !== true) throw new UsageError(`there is no run ${name} in ${out}`);
  const { results, failures, discarded, costUsd, reasoning, tools } = await readTally(folder);
  const writer = writerOf(folder);
  const text = await readFile(join(folder, "statistics.json"), "utf8").catch(() => "");
  const last = statisticsSchema.safeParse(parseJson(text)).data;
  const calls = Object.values(tools).reduce((sum, { count }) => sum + count, 0);
  const state = { results, failed: failures, discarded, cost_usd: costUsd, tool_calls: calls, writer: writer ?? null };
  if (isJson) say(`${JSON.stringify({ run: name, ...state, total_prompts: last?.total_prompts ?? null })}\n`);
  else {
    const lines = [
      `${folder}: ${writer === undefined ? "no process works on it" : `process ${writer} works on it`}`,
      `${results} results, ${failures} failed, ${discarded} without reasoning left out`,
      `${reasoning.turns} answers, ${calls} tool calls, $${costUsd.toFixed(4)}`,
      ...(last === undefined
        ? []
        : [`last finished ${last.completed_at} with ${last.total_prompts} prompts of ${last.model}`]),
    ];
    say(`${lines.join("\n")}\n`);
  }
  return writer === undefined && failures === 0 && last !== undefined ? EXIT.done : EXIT.failed;
}
