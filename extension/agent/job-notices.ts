/** Planned jobs in the window: the agent that runs them starts with the window, and a run that ended is announced. */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { messageOf } from "../../agent-core/platform/errors.ts";
import type { CronFinished } from "../../agent-core/protocol/cron.ts";
import { showInformation, showWarning } from "../notifications.ts";

/** Delay of the agent's start, until the window has settled: a job can wait. Milliseconds. */
const START_DELAY_MS = 15_000;

/** Starts the agent some time after the window, if there are jobs to run. */
export function startForJobs(start: () => Promise<unknown>): vscode.Disposable {
  const timer = setTimeout(() => {
    // The worker itself reports a failed start.
    hasJobs()
      .then((exist) => (exist ? start() : undefined))
      .catch(() => undefined);
  }, START_DELAY_MS);
  return new vscode.Disposable(() => clearTimeout(timer));
}

/** A path in the Hermes home. */
export function inHome(...path: readonly string[]): string {
  const chosen = vscode.workspace.getConfiguration("hermes").get("home", "") || process.env["HERMES_HOME"];
  return join(chosen || join(homedir(), ".hermes"), ...path);
}

/** True when the Hermes home has a table of jobs, as its first change by the user writes it. */
async function hasJobs(): Promise<boolean> {
  const jobs = await stat(inHome("cron", "jobs.json")).catch(() => undefined);
  return jobs !== undefined;
}

/** Announces a run unless the user wants no notifications. "Open" shows its session, or the output of one without. */
export function announceJob(
  { run, message }: CronFinished,
  reveal: (sessionId: string) => void,
  log: vscode.LogOutputChannel,
): void {
  const setting = vscode.workspace.getConfiguration("hermes").get<string>("notify");
  if (message === undefined || setting === "never") return;
  const { sessionId, output, state } = run;
  const open = vscode.l10n.t("Open");
  const show = state === "completed" ? showInformation : showWarning;
  const shown = async (): Promise<void> => {
    const canOpen = sessionId !== undefined || output !== undefined;
    const chosen = await show(message, ...(canOpen ? [open] : []));
    if (chosen === undefined) return;
    if (sessionId !== undefined) reveal(sessionId);
    else if (output !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(output));
  };
  shown().catch((error: unknown) => log.error(messageOf(error)));
}
