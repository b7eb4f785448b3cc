/** From a data set to tasks: JSONL, one task a line. A line that is no task is reported, and the others run. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import * as z from "zod";
import { hasCode, messageOf, UsageError } from "../agent-core/platform/errors.ts";
import { parseJson } from "../agent-core/platform/json.ts";
import { drawToolsets } from "./distributions.ts";
import { type DataRow, type RunSettings, rowIdentity, type Task, taskKey } from "./task.ts";

const name = z.string().trim().min(1).optional().catch(undefined);

/** Further columns are ignored. */
const rowSchema = z.object({ prompt: z.string(), image: name, docker_image: name, cwd: name });

export type DataSet = {
  readonly rows: readonly DataRow[];
  /** `file:line: reason` for each line that is no task. */
  readonly problems: readonly string[];
};

/** Rejects with a UsageError when the file cannot be read. `limit`: largest number of tasks. */
export async function readDataSet(path: string, limit = Number.POSITIVE_INFINITY): Promise<DataSet> {
  const rows: DataRow[] = [];
  const problems: string[] = [];
  let number = 0;
  try {
    for await (const line of createInterface({
      input: createReadStream(path, "utf8"),
      crlfDelay: Number.POSITIVE_INFINITY,
    })) {
      number += 1;
      const read = readRow(number === 1 ? line.replace(/^\ufeff/, "") : line);
      if (typeof read === "string") problems.push(`${path}:${number}: ${read}`);
      else if (read !== undefined && rows.length < limit) rows.push(read);
    }
  } catch (error) {
    const reason = hasCode(error, "ENOENT") ? "there is no such file" : messageOf(error);
    throw new UsageError(`--dataset_file ${path}: ${reason}.`);
  }
  return { rows, problems };
}

/** Undefined for an empty line; a text is the problem. */
function readRow(line: string): DataRow | string | undefined {
  if (line.trim() === "") return undefined;
  const json = parseJson(line);
  if (json === undefined) return "it is not JSON";
  if (typeof json !== "object" || json === null || Array.isArray(json)) return "it is not a JSON object";
  if (!("prompt" in json)) return 'it has no "prompt"';
  const parsed = rowSchema.safeParse(json);
  if (!parsed.success) return '"prompt" is not a text';
  const { prompt, image, docker_image: docker, cwd } = parsed.data;
  if (prompt.trim() === "") return '"prompt" is empty';
  const container = image ?? docker;
  return { prompt, ...(container !== undefined && { image: container }), ...(cwd !== undefined && { cwd }) };
}

export type Plan = {
  readonly settings: RunSettings;
  readonly samples: number;
  readonly seed: number;
  readonly batchSize: number;
};

/** Batches have `batchSize` tasks each, in the order of the data set. Equal rows are separate tasks. */
export function planTasks(rows: readonly DataRow[], { settings, samples, seed, batchSize }: Plan): readonly Task[] {
  const seen = new Map<string, number>();
  const tasks: Task[] = [];
  for (const [index, row] of rows.entries()) {
    const identity = rowIdentity(row);
    const occurrence = seen.get(identity) ?? 0;
    seen.set(identity, occurrence + 1);
    for (let sample = 0; sample < samples; sample += 1) {
      const key = taskKey(settings, row, { occurrence, sample });
      const toolsets = drawToolsets(settings.distribution, seed, key);
      tasks.push({ ...row, key, index, sample, batch: Math.floor(tasks.length / batchSize), toolsets, settings });
    }
  }
  return tasks;
}

/** The tasks in new batches from 0 on, as a resumed run of the original has them. */
export function inBatches(tasks: readonly Task[], batchSize: number): readonly Task[] {
  return tasks.map((task, at) => ({ ...task, batch: Math.floor(at / batchSize) }));
}
