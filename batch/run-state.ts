/** State of a run while it works: counts, checkpoints and the budget. */
import { oneLine } from "../agent-core/platform/one-line.ts";
import type { BatchLine } from "./batch-options.ts";
import type { Counts, Progress } from "./progress.ts";
import type { RunFolder } from "./run-folder.ts";
import type { BatchCounts } from "./statistics.ts";
import type { Stopping } from "./stopping.ts";
import type { Task, TaskResult } from "./task.ts";
import { isDiscarded } from "./trajectories/row.ts";

export type RunStateOptions = {
  readonly folder: RunFolder;
  readonly line: BatchLine;
  readonly progress: Progress;
  readonly tasks: readonly Task[];
  /** Tasks without a result. */
  readonly left: readonly Task[];
  readonly stopping: Pick<Stopping, "end">;
  /** Cost of earlier runs. US dollars. */
  readonly spentUsd: number;
};

export class RunState {
  readonly #options: RunStateOptions;
  /** Tasks without a result, by their positions in the data set and by their batches. */
  readonly #openRows: Map<number, number>;
  readonly #openBatches: Map<number, number>;
  readonly #batches = new Map<number, BatchCounts>();
  #done = 0;
  #failed = 0;
  #costUsd: number;
  #problem: string | undefined;
  #checkpointing: Promise<void> = Promise.resolve();

  constructor(options: RunStateOptions) {
    this.#options = options;
    this.#costUsd = options.spentUsd;
    this.#openRows = countBy(options.left, ({ index }) => index);
    this.#openBatches = countBy(options.left, ({ batch }) => batch);
    if (options.spentUsd > 0) this.#checkBudget();
  }

  get runId(): string {
    return this.#options.folder.id;
  }

  get counts(): Counts {
    const { tasks, left } = this.#options;
    return {
      total: tasks.length,
      done: tasks.length - left.length + this.#done,
      failed: this.#failed,
      costUsd: this.#costUsd,
    };
  }

  /** Each task has a result that is no failure. */
  get isComplete(): boolean {
    return this.#done === this.#options.left.length && this.#failed === 0;
  }

  /** Reason why the run began no further task, in one line. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves once the result is on the disk. Rejects with the system's error. */
  async take(result: TaskResult): Promise<void> {
    const { folder, progress, line } = this.#options;
    if ((await folder.add(result)) === "known") return;
    this.#done += 1;
    if (result.outcome === "failed") this.#failed += 1;
    this.#spend(result);
    if (line.verbose) progress.note(resultLine(result, line["log-prefix-chars"]));
    else if (result.outcome === "failed") progress.note(`task ${result.index} failed: ${result.error ?? "no reason"}`);
    progress.show(this.counts);
    await this.#count(result);
  }

  #spend({ costUsd, steps }: TaskResult): void {
    const { "max-cost": maxCostUsd } = this.#options.line;
    this.#costUsd += costUsd ?? 0;
    if (maxCostUsd !== undefined && costUsd === undefined && steps.length > 0) {
      this.#end("the price of the model is unknown, so --max_cost cannot be kept. Leave it out, or use another model.");
    }
    this.#checkBudget();
  }

  #checkBudget(): void {
    const { "max-cost": maxCostUsd } = this.#options.line;
    if (maxCostUsd !== undefined && this.#costUsd >= maxCostUsd) {
      this.#end(`the budget of $${maxCostUsd} is spent ($${this.#costUsd.toFixed(4)}).`);
    }
  }

  #end(problem: string): void {
    this.#problem ??= problem;
    this.#options.stopping.end();
  }

  /** A batch that has ended is in checkpoint.json. */
  async #count(result: TaskResult): Promise<void> {
    const { index, batch, outcome } = result;
    if (outcome !== "failed") decrease(this.#openRows, index);
    const counts = this.#batches.get(batch) ?? { processed: 0, skipped: 0, discarded: 0 };
    this.#batches.set(batch, counts);
    if (outcome === "failed") counts.skipped += 1;
    else counts.processed += 1;
    if (!this.#options.line["keep-without-reasoning"] && isDiscarded(result)) counts.discarded += 1;
    if (decrease(this.#openBatches, batch) === 0) await this.#checkpoint();
  }

  #checkpoint(): Promise<void> {
    const { folder, line, tasks } = this.#options;
    this.#checkpointing = this.#checkpointing.then(() => {
      const indices = [...new Set(tasks.map(({ index }) => index))];
      const completed = indices.filter((index) => (this.#openRows.get(index) ?? 0) === 0);
      return folder.checkpoint(line.name, { completed, batches: this.#batches, now: Date.now() });
    });
    return this.#checkpointing;
  }
}

function countBy(tasks: readonly Task[], read: (task: Task) => number): Map<number, number> {
  const counts = new Map<number, number>();
  for (const task of tasks) counts.set(read(task), (counts.get(read(task)) ?? 0) + 1);
  return counts;
}

function decrease(counts: Map<number, number>, key: number): number {
  const left = (counts.get(key) ?? 0) - 1;
  counts.set(key, left);
  return left;
}

function resultLine({ index, outcome, error, steps, durationMs, conversations }: TaskResult, chars: number): string {
  const words = conversations.find(({ from }) => from === "human")?.value ?? "";
  const reason = error === undefined ? "" : ` (${error})`;
  return `[${index}] ${outcome}${reason}, ${steps.length} calls, ${(durationMs / 1_000).toFixed(1)}s: ${oneLine(words, chars)}`;
}
