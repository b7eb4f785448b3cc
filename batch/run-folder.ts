/**
 * Folder of a run: the only truth about its results. One process writes it. A line counts once it is on the disk, and of
 * several lines with one key the first one that is no failure counts.
 */
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { open, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import * as z from "zod";
import { parseJson } from "../agent-core/platform/json.ts";
import { acquireLock, type FileLock, lockHolder } from "../agent-core/platform/locks/file-lock.ts";
import { newId } from "../agent-core/platform/new-id.ts";
import { pythonJson } from "../agent-core/platform/python-json.ts";
import { checkpoint, type Merged, type StatisticsFacts, statistics, Tally } from "./statistics.ts";
import type { TaskResult } from "./task.ts";
import { discardedLine, isDiscarded, rowOf, type StoredRow, storedRow } from "./trajectories/row.ts";

/** Name of our own file with the tasks whose conversations were left out, so that a resume does not repeat them. */
const DISCARDED = "discarded.jsonl";
const ATIF_FOLDER = "atif";
const LOCK = ".lock";

export type Done = {
  /** Keys of the tasks that have ended. */
  readonly keys: ReadonlySet<string>;
  /** Numbers of lines without our key, by the first words of the user: those of the original. */
  readonly prompts: ReadonlyMap<string, number>;
  readonly costUsd: number;
};

export class RunFolder {
  readonly path: string;
  readonly #lock: FileLock;
  readonly #keepsUnreasoned: boolean;
  readonly #waiting: { readonly result: TaskResult; readonly settle: PromiseWithResolvers<void> }[] = [];
  readonly #ended = new Set<string>();
  #writing: Promise<void> | undefined;

  /** `keepsUnreasoned` keeps conversations without thoughts. Throws a RunInUseError, and the system's error when it cannot be written. */
  constructor(path: string, keepsUnreasoned = false) {
    mkdirSync(path, { recursive: true });
    const lock = acquireLock(join(path, LOCK));
    if ("pid" in lock)
      throw new RunInUseError(`${path} is in use by process ${lock.pid}. Wait for its end, or stop it.`);
    this.path = path;
    this.#lock = lock;
    this.#keepsUnreasoned = keepsUnreasoned;
  }

  /** Id of the run, also when another machine continues it. */
  get id(): string {
    const path = join(this.path, ".id");
    if (!existsSync(path)) writeFileSync(path, newId());
    return readFileSync(path, "utf8").trim();
  }

  /** True when an earlier run wrote results here. */
  get hasResults(): boolean {
    return batchFiles(this.path).length > 0 || existsSync(join(this.path, "checkpoint.json"));
  }

  /** Reads what is done from the results. */
  async readDone(): Promise<Done> {
    const prompts = new Map<string, number>();
    let costUsd = 0;
    for await (const { row } of storedRows(this.path)) {
      const { hermes } = row.metadata;
      costUsd += hermes?.cost_usd ?? 0;
      if (row.failed === true) continue;
      if (hermes !== undefined) this.#ended.add(hermes.key);
      else {
        const words = row.conversations.find(({ from }) => from === "human")?.value.trim() ?? "";
        prompts.set(words, (prompts.get(words) ?? 0) + 1);
      }
    }
    for await (const line of linesOf(join(this.path, DISCARDED))) {
      const discarded = z.object({ key: z.string(), cost_usd: z.number().nullish() }).safeParse(parseJson(line)).data;
      if (discarded === undefined) continue;
      this.#ended.add(discarded.key);
      costUsd += discarded.cost_usd ?? 0;
    }
    return { keys: this.#ended, prompts, costUsd };
  }

  /**
   * Resolves when the result is on the disk: `written`, or `known` for a task that had ended. Rejects with the system's
   * error, such as a full disk.
   */
  async add(result: TaskResult): Promise<"written" | "known"> {
    if (this.#ended.has(result.key)) return "known";
    if (result.outcome !== "failed") this.#ended.add(result.key);
    const settle = Promise.withResolvers<void>();
    this.#waiting.push({ result, settle });
    this.#writing ??= this.#write();
    await settle.promise;
    return "written";
  }

  /** Results that arrive together are written together. */
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      try {
        await this.#append(group.map(({ result }) => result));
        for (const { settle } of group) settle.resolve();
      } catch (error) {
        for (const { settle, result } of group) {
          this.#ended.delete(result.key);
          settle.reject(error);
        }
      }
    }
    this.#writing = undefined;
  }

  async #append(results: readonly TaskResult[]): Promise<void> {
    const lines = new Map<string, string[]>();
    const add = (file: string, line: string): void => void lines.set(file, [...(lines.get(file) ?? []), line]);
    for (const { atif, batch } of results)
      if (atif !== undefined) add(join(ATIF_FOLDER, `batch_${batch}.jsonl`), pythonJson(atif));
    // A result counts with its own line, which follows.
    for (const result of results) {
      if (!this.#keepsUnreasoned && isDiscarded(result)) add(DISCARDED, discardedLine(result));
      else add(`batch_${result.batch}.jsonl`, pythonJson(rowOf(result, Date.now())));
    }
    for (const [file, own] of lines) await appendSynced(join(this.path, file), own);
  }

  /** Writes checkpoint.json. */
  async checkpoint(name: string, state: Parameters<typeof checkpoint>[1]): Promise<void> {
    await replaceFile(join(this.path, "checkpoint.json"), checkpoint(name, state));
  }

  /** Merges the batches into trajectories.jsonl (unless `isMerged` is false), and writes statistics.json. */
  async finish(facts: StatisticsFacts, isMerged: boolean): Promise<Merged> {
    const tally = new Tally();
    const target = join(this.path, "trajectories.jsonl");
    if (isMerged) {
      await pipeline(mergedLines(this.path, tally), createWriteStream(`${target}.part`));
      await rename(`${target}.part`, target);
    } else for await (const _ of mergedLines(this.path, tally));
    const merged = tally.end(await countDiscarded(this.path));
    await replaceFile(join(this.path, "statistics.json"), statistics(facts, merged));
    return merged;
  }

  close(): void {
    this.#lock.release();
  }
}

/** Process that writes the run at the moment; undefined when none does. */
export function writerOf(folder: string): number | undefined {
  return lockHolder(join(folder, LOCK))?.pid;
}

/** Another living process writes the run. */
export class RunInUseError extends Error {
  override readonly name = "RunInUseError";
}

/** Numbers of the batch files, in order. */
function batchFiles(folder: string): readonly string[] {
  const files = readdirSync(folder).flatMap((name) => {
    const [, number] = /^batch_(\d+)\.jsonl$/.exec(name) ?? [];
    return number === undefined ? [] : [{ name, number: Number(number) }];
  });
  return files.toSorted((first, second) => first.number - second.number).map(({ name }) => name);
}

/** All readable lines, in order. A torn or damaged line is left out. */
async function* storedRows(folder: string): AsyncGenerator<{ readonly row: StoredRow; readonly line: string }> {
  for (const name of batchFiles(folder)) {
    for await (const line of linesOf(join(folder, name))) {
      const row = storedRow.safeParse(parseJson(line)).data;
      if (row !== undefined) yield { row, line };
    }
  }
}

/** Lines of all batches that belong into the merged file, with their ends. */
async function* mergedLines(folder: string, tally: Tally): AsyncGenerator<string> {
  for await (const { row, line } of storedRows(folder)) if (tally.add(row)) yield `${line}\n`;
}

/** Lines of a file; none for a missing one. */
async function* linesOf(path: string): AsyncGenerator<string> {
  if (!existsSync(path)) return;
  yield* createInterface({ input: createReadStream(path, "utf8"), crlfDelay: Number.POSITIVE_INFINITY });
}

/** A torn last line, which a kill left, becomes a line of its own. */
async function appendSynced(path: string, lines: readonly string[]): Promise<void> {
  mkdirSync(join(path, ".."), { recursive: true });
  const file = await open(path, "a+");
  try {
    const { size } = await file.stat();
    const last = size === 0 ? undefined : (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer;
    const torn = last !== undefined && last[0] !== 10 ? "\n" : "";
    await file.writeFile(`${torn}${lines.join("\n")}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function replaceFile(path: string, content: unknown): Promise<void> {
  await writeFile(`${path}.part`, pythonJson(content, 2));
  await rename(`${path}.part`, path);
}

/** Sums over the results of a run so far. Rejects with the system's error. */
export async function readTally(folder: string): Promise<Merged> {
  const tally = new Tally();
  for await (const _ of mergedLines(folder, tally));
  return tally.end(await countDiscarded(folder));
}

async function countDiscarded(folder: string): Promise<number> {
  const lines = new Set<string>();
  for await (const line of linesOf(join(folder, DISCARDED))) lines.add(line);
  return lines.size;
}
