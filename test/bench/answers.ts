/** A long answer, its memory, the way of one token, and reading calls that run while the answer still streams. */
import { readFileSync } from "node:fs";
import type { AcpProcess } from "../support/acp-process.ts";
import type { Part } from "../support/model-server/answer.ts";
import { call, hold, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { median, quantile, type Row, withAgent } from "./measuring.ts";

const TOKENS = 20_000;
const SINGLE_TOKENS = 200;
/** What each of the four readings of the overlapped turn takes. */
const READ_MS = 200;

export async function measureAnswers(): Promise<readonly Row[]> {
  const { took, residentMb } = await longAnswer();
  const ways = await waysOfTokens();
  return [
    {
      what: `answer of ${TOKENS} tokens, first request to done`,
      ours: took,
      floor: await bareAnswer(),
      target: 250,
      targetFloor: 85,
      unit: "ms",
    },
    { what: "peak memory of that run", ours: residentMb, target: 140, unit: "MB" },
    { what: "token to session/update, median", ours: median(ways), target: 0.5, unit: "ms" },
    { what: "the same, 95th percentile", ours: quantile(ways, 0.95), target: 2, unit: "ms" },
    {
      what: `4 readings of ${READ_MS} ms: from the stream's end to the next request`,
      ours: await overlap(),
      target: 50,
      unit: "ms",
    },
  ];
}

const token = (number: number): Part => ({ type: "text", text: ` token${number % 10}` });
const longScript = { parts: Array.from({ length: TOKENS }, (_, number) => token(number)) };

const longAnswer = (): Promise<{ readonly took: number; readonly residentMb: number }> =>
  withAgent(async (agent, model, sessionId) => {
    model.script(say("warm"), longScript);
    await agent.prompt(sessionId, "first");
    await agent.prompt(sessionId, "go");
    const took = performance.now() - (model.requests.at(-1)?.at ?? 0);
    return { took, residentMb: peakMemory(agent) };
  });

/** Fetch and parse, nothing else. */
async function bareAnswer(): Promise<number> {
  const model = await startModelServer();
  model.script(longScript);
  const response = await fetch(`${model.baseUrl}/chat/completions`, { method: "POST", body: "{}" });
  for (const line of (await response.text()).split("\n")) if (line.startsWith("data: {")) JSON.parse(line.slice(6));
  const took = performance.now() - (model.requests[0]?.at ?? 0);
  await model.stop();
  return took;
}

/** Most that was ever resident, from the kernel; 0 where there is no such file. */
function peakMemory({ child }: AcpProcess): number {
  if (process.platform !== "linux") return 0;
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}

/** One token at a time: sent when the one before has arrived. */
const waysOfTokens = (): Promise<readonly number[]> =>
  withAgent(async (agent, model, sessionId) => {
    const gates = Array.from({ length: SINGLE_TOKENS }, hold);
    model.script(say("warm"));
    await agent.prompt(sessionId, "first");
    model.script({ parts: gates.flatMap((gate, number) => [gate.part, token(number)]) });
    const turn = agent.prompt(sessionId, "go");
    const ways: number[] = [];
    for (const gate of gates) {
      await gate.reached;
      const arrived = agent.nextUpdate();
      const begin = performance.now();
      gate.release();
      await arrived;
      ways.push(performance.now() - begin);
    }
    await turn;
    return ways;
  });

/**
 * Four readings that the client answers after a while, and an answer that goes on for longer: when it ends, they are
 * over. Without the overlap the next request would come four times that while later, or once if they ran together.
 */
const overlap = (): Promise<number> =>
  withAgent(async (_, model) => {
    const slow = await slowReader(model);
    const gate = hold();
    const reads = ["a.txt", "b.txt", "c.txt", "d.txt"].map((path) => call("read_file", { path }));
    model.script({ parts: [...reads, { type: "text", text: "Reading." }, gate.part] }, say("done"));
    const turn = slow.agent.prompt(slow.sessionId, "go");
    await slow.allRead;
    gate.release();
    await turn;
    await slow.agent.stop();
    const [first, second] = model.requests.slice(-2);
    return (second?.at ?? 0) - (first?.answer.writtenAt ?? 0);
  });

async function slowReader(model: ModelServer) {
  const { AcpProcess } = await import("../support/acp-process.ts");
  const agent = new AcpProcess({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "bench",
    HERMES_API_KEY: "sk-bench-123456",
  });
  const allRead = Promise.withResolvers<void>();
  let answered = 0;
  agent.on("fs/read_text_file", async () => {
    await new Promise((resolve) => setTimeout(resolve, READ_MS));
    answered += 1;
    if (answered === 4) allRead.resolve();
    return { content: "text\n" };
  });
  await agent.initialize({ fs: { readTextFile: true, writeTextFile: true } });
  return { agent, sessionId: await agent.newSession(), allRead: allRead.promise };
}
