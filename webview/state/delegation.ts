/** Tasks of a `delegate_task` call: counted, and put into words. */
import type { HermesTask } from "../../agent-core/protocol/delegation.ts";
import { t } from "../texts.ts";

export type TaskStatus = HermesTask["status"];

type StatusLook = {
  readonly icon: string;
  readonly word: string;
  readonly isOver: boolean;
};

export const taskLooks: Readonly<Record<TaskStatus, StatusLook>> = {
  waiting: { icon: "circle-large-outline", word: t("waiting"), isOver: false },
  running: { icon: "loading", word: t("running"), isOver: false },
  checking: { icon: "law", word: t("being checked"), isOver: false },
  completed: { icon: "pass", word: t("completed"), isOver: true },
  partial: { icon: "warning", word: t("partly completed"), isOver: true },
  failed: { icon: "error", word: t("failed"), isOver: true },
  timeout: { icon: "watch", word: t("timed out"), isOver: true },
  skipped: { icon: "debug-step-over", word: t("skipped"), isOver: true },
  cancelled: { icon: "circle-slash", word: t("cancelled"), isOver: true },
};

export type TaskRef = { readonly callId: string; readonly taskId: string };

/** The tasks of an update. Those that did not change keep their objects. */
export function newTasks(now: readonly HermesTask[], before: readonly HermesTask[] = []): readonly HermesTask[] {
  return now.map((task, index) => {
    const known = before[index];
    return known !== undefined && JSON.stringify(known) === JSON.stringify(task) ? known : task;
  });
}

export function isOver({ status }: Pick<HermesTask, "status">): boolean {
  return taskLooks[status].isOver;
}

/** The tasks after the end of their turn: those that had not ended are cancelled. */
export function cancelTasks(tasks: readonly HermesTask[]): readonly HermesTask[] {
  if (tasks.every(isOver)) return tasks;
  return tasks.map((task) => (isOver(task) ? task : { ...task, status: "cancelled" }));
}

/** Longest list of ends in one announcement; the card has them all. */
const MAX_NEWS = 3;

/** Announcement of the tasks that have ended between two states of a delegation; undefined without any. */
export function taskNews(before: readonly HermesTask[], now: readonly HermesTask[]): string | undefined {
  const wasOver = new Set(before.filter(isOver).map(({ id }) => id));
  const ended = now.filter((task) => isOver(task) && !wasOver.has(task.id));
  if (ended.length === 0) return undefined;
  if (ended.length > MAX_NEWS) return t("{0} tasks have ended", ended.length);
  return ended
    .map(({ goal, status, reason }) => [`${goal}: ${taskLooks[status].word}`, reason].filter(Boolean).join(", "))
    .join(". ");
}

/** State of a task in one line: its last step while it works, then its reason or its changed files. */
export function taskLine(task: HermesTask): string {
  const { status, step, reason, dependsOn, files } = task;
  if (status === "waiting") return dependsOn.length === 0 ? t("Waiting") : t("Waiting for {0}", dependsOn.join(", "));
  if (!isOver(task)) return step ?? (status === "checking" ? t("Checking the result") : t("Starting"));
  if (status !== "completed") return reason ?? taskLooks[status].word.replace(/^./, (letter) => letter.toUpperCase());
  if (files.length === 0) return t("No files changed");
  return files.length === 1 ? t("1 file changed") : t("{0} files changed", files.length);
}
