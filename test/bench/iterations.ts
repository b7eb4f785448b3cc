/** The agent's own time between an answer's end and the next request, beside a bare loop that does the same. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { median, type Row, withAgent } from "./measuring.ts";

const ITERATIONS = 50;
const MANY = 85;

export async function measureIterations(): Promise<readonly Row[]> {
  const floor = median(await floorLoop(ITERATIONS));
  const manyFloor = lastTenth(await floorLoop(MANY));
  return [
    {
      what: `own time an iteration, median of ${ITERATIONS}`,
      ours: median(await gapsOfAgent(ITERATIONS)),
      floor,
      target: 2,
      targetFloor: 0.8,
      unit: "ms",
    },
    {
      what: `the same, last tenth of ${MANY}`,
      ours: lastTenth(await gapsOfAgent(MANY)),
      floor: manyFloor,
      target: 2.5,
      targetFloor: 0.8,
      unit: "ms",
    },
  ];
}

const lastTenth = (gaps: readonly number[]): number => median(gaps.slice(-Math.ceil(gaps.length / 10)));

/** Fetch, parse the event stream, read a small file, ask again. */
async function floorLoop(iterations: number): Promise<readonly number[]> {
  const model = await startModelServer();
  const file = join(mkdtempSync(join(tmpdir(), "hermes-bench-")), "a.txt");
  writeFileSync(file, "one\ntwo\nthree\n");
  for (let round = 0; round <= iterations; round += 1) model.script({ parts: [call("read_file", { path: file })] });
  const messages: unknown[] = [{ role: "user", content: "go" }];
  for (let round = 0; round <= iterations; round += 1) {
    const body = JSON.stringify({ messages });
    const response = await fetch(`${model.baseUrl}/chat/completions`, { method: "POST", body });
    for (const line of (await response.text()).split("\n")) if (line.startsWith("data: {")) JSON.parse(line.slice(6));
    messages.push({ role: "tool", content: readFileSync(file, "utf8") });
  }
  await model.stop();
  return gapsOf(model);
}

const gapsOfAgent = (iterations: number): Promise<readonly number[]> =>
  withAgent(async (agent, model, sessionId) => {
    // Another file each time: the same call over and over would be stopped.
    const answers = Array.from({ length: iterations }, (_, at) => ({
      parts: [call("read_file", { path: "a.txt", limit: 1 + at })],
    }));
    model.script(...answers, say("done"));
    await agent.prompt(sessionId, "go");
    return gapsOf(model);
  });

/** From the moment an answer was written to the arrival of the next request, as the server sees it. */
function gapsOf({ requests }: ModelServer): readonly number[] {
  return requests.slice(1).map(({ at }, index) => at - (requests[index]?.answer.writtenAt ?? at));
}
