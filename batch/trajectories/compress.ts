/**
 * `hermes batch compress`: shortens trajectories for training to a number of tokens. The beginning and the end stay; the model
 * summarises as few turns between them as are needed.
 */
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import * as z from "zod";
import { counted } from "../../agent-core/platform/counted.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { mapInParallel } from "../../agent-core/platform/in-parallel.ts";
import { parseJson } from "../../agent-core/platform/json.ts";
import { statOf } from "../../agent-core/platform/paths.ts";
import { pythonJson } from "../../agent-core/platform/python-json.ts";
import { ShareGptTurn } from "../../agent-core/protocol/trajectory.ts";
import { EXIT } from "../../cli/subcommand.ts";
import type { BatchValues } from "../batch-options.ts";
import type { CommandIo } from "../run-batch.ts";
import { askModel } from "../run-task.ts";
import { configuredModel, readTaskBase } from "../task-config.ts";
import { TaskFolders } from "../task-folders.ts";

/** The original's values. Tokens; turns at the end that stay; requests at a time. */
const COMPRESSION = { summaryTokens: 750, lastTurns: 4, requests: 50 };

/** Characters of a token in English text and code. A tokenizer of the model would be exact, and has to be downloaded. */
const TOKEN_CHARS = 3.6;
const PREFIX = "[CONTEXT SUMMARY]: ";

const lineSchema = z.looseObject({ conversations: z.array(ShareGptTurn) });

type CompressOptions = {
  /** A file, or a folder of files. */
  readonly input: string;
  /** Default: beside the input, with the suffix `_compressed`. */
  readonly output: string | undefined;
  /** Share of the lines to take. */
  readonly samplePercent: number;
  readonly targetTokens: number;
  /** Words for the turns between the beginning and the end. */
  readonly summarise: (turns: string) => Promise<string>;
};

type Metrics = {
  total_trajectories: number;
  compressed: number;
  skipped_under_target: number;
  failed: number;
  tokens_before: number;
  tokens_after: number;
  turns_removed: number;
  summary_calls: number;
};

/** Longest time of a summary, as in the original. Milliseconds. */
const SUMMARY_MS = 300_000;

const REQUEST = `Summarise these turns of an agent's work for a reader who continues it: what was done, found and decided, with names and values that matter. At most ${COMPRESSION.summaryTokens} tokens, without an introduction.`;

/** Returns the exit code. Rejects with an Error in one line, a UsageError for a wrong command line. */
export async function runCompress(values: BatchValues, { environment, report }: CommandIo): Promise<number> {
  const base = await readTaskBase(environment);
  const folders = new TaskFolders();
  const model = values.model ?? configuredModel(base);
  const settings = {
    distribution: "default",
    maxTurns: 1,
    timeoutMs: SUMMARY_MS,
    retries: 0,
    atif: false,
    ...(model !== undefined && { model }),
  };
  const ports = { base, folders, log: () => undefined };
  const signal = new AbortController().signal;
  const summarise = (turns: string): Promise<string> => askModel(`${REQUEST}\n\n${turns}`, settings, ports, signal);
  try {
    const metrics = await compressFiles({
      input: values.input ?? "",
      output: values.output,
      samplePercent: values["sample-percent"],
      targetTokens: values["target-max-tokens"],
      summarise,
    });
    const { total_trajectories: total, compressed, failed, tokens_before: before, tokens_after: after } = metrics;
    report(`${compressed} of ${counted(total, "line")} compressed, ${failed} failed: ${before} → ${after} tokens.\n`);
    return failed > 0 ? EXIT.failed : EXIT.done;
  } finally {
    await folders.dispose();
  }
}

/** Rejects with a UsageError for a missing input, and with the system's error. */
async function compressFiles(options: CompressOptions): Promise<Metrics> {
  const files = await filesOf(options.input);
  const isFolder = statOf(options.input)?.isDirectory() === true;
  const metrics = zero();
  for (const file of files) {
    const target = isFolder
      ? join(options.output ?? `${options.input}_compressed`, basename(file))
      : (options.output ?? file.replace(/(\.jsonl(?:\.gz)?)$/, "_compressed$1"));
    if (target === file) throw new UsageError(`--output ${target} is the input. Choose another file.`);
    await compressFile(file, target, options, metrics);
  }
  const place = isFolder ? (options.output ?? `${options.input}_compressed`) : dirname(options.output ?? options.input);
  await writeFile(join(place, "compression_metrics.json"), pythonJson(metrics, 2));
  return metrics;
}

function zero(): Metrics {
  const counts = { total_trajectories: 0, compressed: 0, skipped_under_target: 0, failed: 0 };
  return { ...counts, tokens_before: 0, tokens_after: 0, turns_removed: 0, summary_calls: 0 };
}

async function filesOf(input: string): Promise<readonly string[]> {
  const stats = statOf(input);
  if (stats === undefined) throw new UsageError(`--input ${input}: there is no such file or folder.`);
  if (!stats.isDirectory()) return [input];
  const names = (await readdir(input)).filter((name) => /\.jsonl(\.gz)?$/.test(name)).toSorted();
  if (names.length === 0) throw new UsageError(`--input ${input} has no .jsonl file.`);
  return names.map((name) => join(input, name));
}

async function compressFile(file: string, target: string, options: CompressOptions, metrics: Metrics): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const isZipped = file.endsWith(".gz");
  const source = createReadStream(file);
  const lines = createInterface({
    input: isZipped ? source.pipe(createGunzip()) : source,
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  const part = `${target}.part`;
  const compressed = compressedLines(lines, options, metrics);
  if (target.endsWith(".gz")) await pipeline(compressed, createGzip(), createWriteStream(part));
  else await pipeline(compressed, createWriteStream(part));
  if (existsSync(part)) await rename(part, target);
}

/** The lines in their order; as many at a time as there may be requests. */
async function* compressedLines(
  lines: AsyncIterable<string>,
  options: CompressOptions,
  metrics: Metrics,
): AsyncGenerator<string> {
  let group: string[] = [];
  const flush = async (): Promise<string> => {
    const done = await mapInParallel(group, COMPRESSION.requests, (line) => compressLine(line, options, metrics));
    group = [];
    return done.map((line) => `${line}\n`).join("");
  };
  let taken = 0;
  let seen = 0;
  for await (const line of lines) {
    if (line.trim() === "") continue;
    seen += 1;
    if (taken >= Math.ceil((seen * options.samplePercent) / 100)) continue;
    taken += 1;
    group.push(line);
    if (group.length >= COMPRESSION.requests) yield await flush();
  }
  if (group.length > 0) yield await flush();
}

/** A line that cannot be shortened stays as it is. */
async function compressLine(line: string, options: CompressOptions, metrics: Metrics): Promise<string> {
  metrics.total_trajectories += 1;
  const row = lineSchema.safeParse(parseJson(line)).data;
  if (row === undefined) {
    metrics.failed += 1;
    return line;
  }
  const before = tokensOf(row.conversations);
  metrics.tokens_before += before;
  const range = rangeToDrop(row.conversations, options.targetTokens);
  if (range === undefined) {
    metrics.skipped_under_target += 1;
    metrics.tokens_after += before;
    return line;
  }
  const dropped = row.conversations.slice(range.start, range.end);
  try {
    metrics.summary_calls += 1;
    const words = await options.summarise(dropped.map(({ from, value }) => `[${from}]\n${value}`).join("\n\n"));
    const summary: ShareGptTurn = { from: "human", value: PREFIX + words.trim() };
    const conversations = row.conversations.toSpliced(range.start, dropped.length, summary);
    metrics.compressed += 1;
    metrics.turns_removed += dropped.length - 1;
    metrics.tokens_after += tokensOf(conversations);
    return pythonJson({ ...row, conversations });
  } catch {
    metrics.failed += 1;
    metrics.tokens_after += before;
    return line;
  }
}

/** As few turns between the protected ones as bring the conversation under `target`. Undefined: nothing to drop. */
export function rangeToDrop(
  turns: readonly ShareGptTurn[],
  target: number,
): { readonly start: number; readonly end: number } | undefined {
  const total = tokensOf(turns);
  if (total <= target) return undefined;
  const firsts = ["system", "human", "gpt", "tool"].map((kind) => turns.findIndex(({ from }) => from === kind));
  const start = Math.max(...firsts) + 1;
  const last = turns.length - COMPRESSION.lastTurns;
  let saved = -COMPRESSION.summaryTokens;
  let end = start;
  while (end < last && total - saved > target) {
    saved += tokensOf(turns.slice(end, end + 1));
    end += 1;
  }
  // A result is dropped with its call, and not without it.
  while (end < last && turns[end]?.from === "tool") end += 1;
  return end - start > 1 && saved > 0 ? { start, end } : undefined;
}

function tokensOf(turns: readonly ShareGptTurn[]): number {
  return Math.ceil(turns.reduce((sum, { value }) => sum + value.length, 0) / TOKEN_CHARS);
}
