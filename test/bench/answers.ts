/** A long answer, its memory, the delay of one token, and reading calls that run while the answer still streams. */
import { AcpProcess } from "../support/acp-process.ts";
import type { Part } from "../support/model-server/answer.ts";
import { call, hold, type ModelServer, say } from "../support/model-server/model-server.ts";
import { byTurns, environmentOf, median, quantile, type Row, withAgent } from "./measuring.ts";
import { peakMemory, type Run, withPrograms } from "./programs.ts";

const TOKENS = 20_000;
const ROUNDS = 9;
const SINGLE_TOKENS = 200;
/** Duration of each of the four reads in the overlapped turn. */
const READ_MS = 200;

export async function measureAnswers(): Promise<readonly Row[]> {
  const { ours, floor } = await longAnswers();
  const overStdio = await longAnswerOverStdio();
  const delays = await delaysOfTokens();
  const time = (runs: readonly Timed[]): number => median(runs.map(({ ms }) => ms));
  const memory = (runs: readonly Timed[]): number => median(runs.map(({ peakMb }) => peakMb));
  return [
    {
      what: `headless: answer of ${TOKENS} tokens, first request to end`,
      ours: time(ours),
      floor: time(floor),
      ratio: 1.15,
      unit: "ms",
    },
    { what: "peak memory of that run", ours: memory(ours), floor: memory(floor), target: 110, unit: "MB" },
    { what: `stdio: answer of ${TOKENS} tokens, request to stopReason`, ours: overStdio.ms, target: 250, unit: "ms" },
    { what: "peak memory of that run", ours: overStdio.peakMb, target: 110, unit: "MB" },
    { what: "token to session/update, median", ours: median(delays), target: 0.5, unit: "ms" },
    { what: "the same, 95th percentile", ours: quantile(delays, 0.95), target: 2, unit: "ms" },
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

type Timed = { readonly ms: number; readonly peakMb: number };

const longAnswers = () =>
  withPrograms(({ model, ours, floor }) => {
    model.respondWith(() => longScript);
    const timed = async (run: () => Promise<Run>): Promise<Timed> => {
      const { endedAt, peakMb } = await run();
      return { ms: endedAt - (model.requests[0]?.at ?? 0), peakMb };
    };
    return byTurns(
      ROUNDS,
      () => timed(ours),
      () => timed(floor),
    );
  });

const longAnswerOverStdio = (): Promise<Timed> =>
  withAgent(async (agent, model, sessionId) => {
    model.script(say("warm"), longScript);
    await agent.prompt(sessionId, "first");
    await agent.prompt(sessionId, "go");
    const ms = performance.now() - (model.requests.at(-1)?.at ?? 0);
    return { ms, peakMb: peakMemory(agent.child.pid) };
  });

/** One token at a time: sent when the one before has arrived. */
const delaysOfTokens = (): Promise<readonly number[]> =>
  withAgent(async (agent, model, sessionId) => {
    const gates = Array.from({ length: SINGLE_TOKENS }, hold);
    model.script(say("warm"));
    await agent.prompt(sessionId, "first");
    model.script({ parts: gates.flatMap((gate, number) => [gate.part, token(number)]) });
    const turn = agent.prompt(sessionId, "go");
    const delays: number[] = [];
    for (const gate of gates) {
      await gate.reached;
      const arrived = agent.nextUpdate();
      const begin = performance.now();
      gate.release();
      await arrived;
      delays.push(performance.now() - begin);
    }
    await turn;
    return delays;
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
  const agent = new AcpProcess(environmentOf(model));
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
