/** Tools that look on for a second, on a machine that may stand still for longer than that. */
import { vi } from "vitest";
import { tool as processTool } from "../../agent-core/tools/process.ts";
import type { ToolResult } from "../../agent-core/tools/tool.ts";
import type { Bench } from "./tool-context.ts";

/** As long as the tools look on. */
const SECOND_MS = 1_000;
const LOOK_MS = 20;

const realTimeout = setTimeout;

/**
 * Does `work` while the clock stands; its second is over as soon as `isThere`. Without that it goes on until the work
 * is over by itself: until the command has ended.
 */
export async function lookingOn<Result>(
  work: () => Promise<Result>,
  isThere: () => boolean | Promise<boolean> = () => false,
): Promise<Result> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let isOver = false as boolean;
    const result = work().finally(() => {
      isOver = true;
    });
    result.catch(() => undefined); // told below
    let isSeen = false;
    while (!isOver) {
      isSeen ||= await isThere();
      if (isSeen) vi.advanceTimersByTime(SECOND_MS);
      await new Promise((resolve) => realTimeout(resolve, LOOK_MS));
    }
    return await result;
  } finally {
    vi.useRealTimers();
  }
}

/** Writes to the process, and looks on until it waits for more and all it has printed ends with `answer`. */
export function answeredWith(answer: string, { context, run }: Bench, id: string, data: string): Promise<ToolResult> {
  const { running } = context.processes.find(id)!;
  const elsewhere = context.host.terminals.place !== undefined; // nobody sees there whether it waits
  const isThere = async (): Promise<boolean> =>
    (await running.output()).head.trimEnd().endsWith(answer) && (elsewhere || (await running.waitsForInput()));
  return lookingOn(() => run(processTool, { action: "write", id, data }), isThere);
}
