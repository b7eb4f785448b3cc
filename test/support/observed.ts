/** Tools that observe a command for a second, without dependence on real time. */
import { vi } from "vitest";
import { tool as processTool } from "../../agent-core/tools/process.ts";
import type { ToolResult } from "../../agent-core/tools/tool.ts";
import type { Bench } from "./tool-context.ts";

/** Observation time of the tools. */
const SECOND_MS = 1_000;
const POLL_MS = 20;

const realTimeout = setTimeout;

/**
 * Runs `work` with a stopped clock. The observed second ends as soon as `isThere` is true, or else when the command
 * ends.
 */
export async function observed<Result>(
  work: () => Promise<Result>,
  isThere: () => boolean | Promise<boolean> = () => false,
): Promise<Result> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let isOver = false as boolean;
    const result = work().finally(() => {
      isOver = true;
    });
    result.catch(() => undefined); // the caller gets the error
    let isSeen = false;
    while (!isOver) {
      isSeen ||= await isThere();
      if (isSeen) vi.advanceTimersByTime(SECOND_MS);
      await new Promise((resolve) => realTimeout(resolve, POLL_MS));
    }
    return await result;
  } finally {
    vi.useRealTimers();
  }
}

/** Writes to the process, and observes it until its output ends with `answer` and it waits for input. */
export function answeredWith(answer: string, { context, run }: Bench, id: string, data: string): Promise<ToolResult> {
  const { running } = context.processes.find(id)!;
  const isRemote = context.host.terminals.place !== undefined; // a remote wait for input is invisible
  const isThere = async (): Promise<boolean> =>
    (await running.output()).head.trimEnd().endsWith(answer) && (isRemote || (await running.waitsForInput()));
  return observed(() => run(processTool, { action: "write", id, data }), isThere);
}
