/** Ends of turns and agents: a cancelled answer, and a command that ignores signals to end. */
import { spawnSync } from "node:child_process";
import type { AcpProcess } from "../support/acp-process.ts";
import { call, hold, type ModelServer } from "../support/model-server/model-server.ts";
import { type Row, times, withAgent } from "./measuring.ts";

const ROUNDS = 3;
const CANCELS = 15;
/** No other command of this machine. */
const NAP = `sleep 6${process.pid}`;
const STUBBORN = `trap '' TERM INT HUP; while :; do ${NAP}; done`;

export async function measureEnding(): Promise<readonly Row[]> {
  const cancelled = await times(ROUNDS, () => withAgent((...it) => untilGone(...it, cancel)));
  const ended = await times(ROUNDS, () => withAgent((...it) => untilGone(...it, (agent) => agent.stop())));
  return [
    { what: "cancel to stopReason", ours: await cancelToStop(), target: 3, unit: "ms" },
    { what: "cancel to no process of a stubborn command alive", ours: cancelled, target: 2_000, unit: "ms" },
    { what: "end of stdin to no agent and no such process alive", ours: ended, target: 2_000, unit: "ms" },
  ];
}

const cancelToStop = (): Promise<number> =>
  withAgent(async (agent, model, sessionId) =>
    times(CANCELS, async () => {
      const held = hold();
      model.script({ parts: [{ type: "text", text: "x" }, held.part] });
      const turn = agent.prompt(sessionId, "go");
      while (agent.text() === "") await agent.nextUpdate();
      agent.updates.length = 0;
      const begin = performance.now();
      cancel(agent, sessionId);
      await turn;
      const took = performance.now() - begin;
      held.release();
      return took;
    }),
  );

function cancel(agent: AcpProcess, sessionId: string): void {
  agent.notify("session/cancel", { sessionId });
}

async function untilGone(
  agent: AcpProcess,
  model: ModelServer,
  sessionId: string,
  end: (agent: AcpProcess, sessionId: string) => unknown,
): Promise<number> {
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  model.script({ parts: [call("terminal", { command: STUBBORN })] });
  void agent.prompt(sessionId, "go");
  while (!isRunning()) await pause();
  const begin = performance.now();
  await end(agent, sessionId);
  while (isRunning()) await pause();
  return performance.now() - begin;
}

function isRunning(): boolean {
  return spawnSync("pgrep", ["-f", `^${NAP}$`]).status === 0;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}
