/** /cron: the list of planned jobs, and requests that change them. */
import type { Command } from "./command.ts";

const SYNTAX =
  '`/cron`, `/cron pause|resume|run|remove JOB`, or `/cron create SCHEDULE PROMPT`; a schedule is `30m`, `every 2h`, `"0 9 * * 1-5"` or `2026-11-24T09:00`';

export const cron: Command = {
  name: "cron",
  description: "Show planned jobs, create, pause, resume, run or remove one",
  hint: "[create SCHEDULE PROMPT | pause | resume | run | remove JOB]",
  async run(argument, { jobs, cwd, signal }) {
    if (jobs === undefined) return "A planned job cannot change jobs.";
    const { jobsText, requestIn } = await import("../../cron/jobs-text.ts");
    if (argument === "" || argument === "list") return `${jobsText(await jobs.state())}\n\nType ${SYNTAX}.`;
    const request = requestIn(argument);
    return request === undefined ? `Type ${SYNTAX}.` : (await jobs.act(request, cwd, signal)).message;
  },
};
