/** Works on the tasks in this process, several sessions at a time. */
import { runTask, type TaskPorts } from "../run-task.ts";
import type { Task, TaskResult } from "../task.ts";
import type { TaskBase } from "../task-config.ts";
import { TaskFolders } from "../task-folders.ts";

export type EnginePorts = {
  /** Called for each result; settles when it is on the disk. A rejection ends the run. */
  readonly onResult: (result: TaskResult) => Promise<unknown>;
  /** Aborted: no further task begins, and the running ones end. */
  readonly stop: AbortSignal;
  /** Aborted: the running tasks end without a result. */
  readonly cancel: AbortSignal;
  readonly log: (line: string) => void;
};

export type Engine = {
  /** Resolves when all tasks have results, or none runs after `stop`. Rejects when no further task can be worked on. */
  run(tasks: readonly Task[], ports: EnginePorts): Promise<void>;
  dispose(): Promise<void>;
};

/**
 * `sessions`: number of tasks at once. `backOff`: delay before a retry, for tests; default: that of `runTask`. The folders of the
 * tasks are removed at the end of each task, and by `dispose`.
 */
export function inProcess(base: TaskBase, sessions: number, backOff?: TaskPorts["backOff"]): Engine {
  const folders = new TaskFolders();
  return {
    async run(tasks, { onResult, stop, cancel, log }) {
      const failure = new AbortController();
      const cancelled = AbortSignal.any([cancel, failure.signal]);
      const ports: TaskPorts = { base, folders, log, ...(backOff && { backOff }) };
      const left = tasks[Symbol.iterator]();
      // All sessions take their tasks from one list, in its order.
      const work = async (): Promise<void> => {
        for (const task of left) {
          if (stop.aborted || cancelled.aborted) return;
          await onResult(await runTask(task, ports, cancelled));
        }
      };
      // A result that cannot be written ends the other sessions, too: their results could not be written either.
      const endAll = (error: unknown): void => {
        if (!cancel.aborted) failure.abort(error);
      };
      await Promise.all(Array.from({ length: sessions }, () => work().catch(endAll)));
      failure.signal.throwIfAborted();
    },
    dispose: () => folders.dispose(),
  };
}
