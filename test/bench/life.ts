/** Starting and stopping: to initialize, to the model, from cancel to the end. */
import { spawn } from "node:child_process";
import { AcpProcess } from "../support/acp-process.ts";
import { say } from "../support/model-server/model-server.ts";
import { type Row, times, withAgent } from "./measuring.ts";

const STARTS = 9;
const ROUNDS = 15;

export async function measureLife(): Promise<readonly Row[]> {
  return [
    {
      what: "stdio: start to initialize",
      ours: await times(STARTS, ourStart),
      floor: await times(STARTS, bareStart),
      target: 150,
      targetFloor: 48,
      unit: "ms",
    },
    { what: "session/prompt to request at the model", ours: await promptToRequest(), target: 10, unit: "ms" },
    { what: "cancel to stopReason", ours: await cancelToEnd(), target: 15, unit: "ms" },
  ];
}

/** Node itself: starts, answers one line. */
function bareStart(): Promise<number> {
  const begin = performance.now();
  const child = spawn("node", [
    "-e",
    "process.stdin.once('data', () => { process.stdout.write('{}\\n'); process.exit(); })",
  ]);
  return new Promise((resolve) => {
    child.stdout.once("data", () => resolve(performance.now() - begin));
    child.stdin.write("{}\n");
  });
}

async function ourStart(): Promise<number> {
  const begin = performance.now();
  const agent = new AcpProcess();
  await agent.initialize();
  const took = performance.now() - begin;
  await agent.stop();
  return took;
}

const promptToRequest = (): Promise<number> =>
  withAgent(async (agent, model, sessionId) => {
    model.script(say("warm"));
    await agent.prompt(sessionId, "first");
    return times(ROUNDS, async () => {
      model.script(say("ok"));
      const begin = performance.now();
      await agent.prompt(sessionId, "go");
      return (model.requests.at(-1)?.at ?? begin) - begin;
    });
  });

const cancelToEnd = (): Promise<number> =>
  withAgent(async (agent, model, sessionId) =>
    times(ROUNDS, async () => {
      model.script({
        parts: [
          { type: "text", text: "x" },
          { type: "wait", until: new Promise(() => undefined) },
        ],
      });
      const seen = agent.of("agent_message_chunk").length;
      const turn = agent.prompt(sessionId, "go");
      while (agent.of("agent_message_chunk").length === seen) await new Promise((resolve) => setImmediate(resolve));
      const begin = performance.now();
      agent.notify("session/cancel", { sessionId });
      await turn;
      return performance.now() - begin;
    }),
  );
