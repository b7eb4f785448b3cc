// `npm run bench`: our figures beside a floor measured in the same run; absolute times drift between machines, ratios
// do not. The floor is a small Node script that fetches, parses the event stream, reads a file and loops.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AcpProcess } from "../support/acp-process.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

const STARTS = 9;
const ITERATIONS = 50;
const CANCELS = 15;

type Row = {
  readonly what: string;
  readonly ours: number;
  readonly floor?: number;
  readonly target: number;
  readonly unit: string;
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

async function times(count: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < count; round += 1) values.push(await measure());
  return median(values);
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

/** A bare loop: fetch, parse the event stream, read a small file, ask again. */
async function floorLoop(model: ModelServer, file: string): Promise<number> {
  for (let round = 0; round <= ITERATIONS; round += 1) model.script({ parts: [call("read_file", { path: file })] });
  const messages: unknown[] = [{ role: "user", content: "go" }];
  for (let round = 0; round <= ITERATIONS; round += 1) {
    const body = JSON.stringify({ messages });
    const response = await fetch(`${model.baseUrl}/chat/completions`, { method: "POST", body });
    for (const line of (await response.text()).split("\n")) if (line.startsWith("data: {")) JSON.parse(line.slice(6));
    messages.push({ role: "tool", content: readFileSync(file, "utf8") });
  }
  return median(gapsOf(model));
}

/** From the moment an answer was written to the arrival of the next request, as the server sees it. */
function gapsOf(model: ModelServer): readonly number[] {
  const { requests } = model;
  return requests.slice(1).map(({ at }, index) => at - (requests[index]?.answer.writtenAt ?? at));
}

async function withAgent<Value>(
  work: (agent: AcpProcess, model: ModelServer, sessionId: string) => Promise<Value>,
): Promise<Value> {
  const model = await startModelServer();
  const agent = new AcpProcess({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "bench",
    HERMES_API_KEY: "sk-bench-123456",
  });
  await agent.initialize();
  try {
    return await work(agent, model, await agent.newSession());
  } finally {
    await agent.stop();
    await model.stop();
  }
}

const ownTime = (): Promise<number> =>
  withAgent(async (agent, model, sessionId) => {
    const answer = { parts: [call("read_file", { path: "a.txt" })] };
    model.script(...Array.from({ length: ITERATIONS }, () => answer), say("done"));
    await agent.prompt(sessionId, "go");
    return median(gapsOf(model));
  });

const promptToRequest = (): Promise<number> =>
  withAgent(async (agent, model, sessionId) => {
    model.script(say("warm"));
    await agent.prompt(sessionId, "first");
    return times(CANCELS, async () => {
      model.script(say("ok"));
      const begin = performance.now();
      await agent.prompt(sessionId, "go");
      return (model.requests.at(-1)?.at ?? begin) - begin;
    });
  });

const cancelToEnd = (): Promise<number> =>
  withAgent(async (agent, model, sessionId) =>
    times(CANCELS, async () => {
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

async function main(): Promise<void> {
  const model = await startModelServer();
  const file = join(mkdtempSync(join(tmpdir(), "hermes-bench-")), "a.txt");
  writeFileSync(file, "one\ntwo\nthree\n");
  const floor = await floorLoop(model, file);
  await model.stop();
  const rows: Row[] = [
    {
      what: "stdio: start to initialize",
      ours: await times(STARTS, ourStart),
      floor: await times(STARTS, bareStart),
      target: 150,
      unit: "ms",
    },
    { what: "session/prompt to request at the model", ours: await promptToRequest(), target: 10, unit: "ms" },
    { what: `own time an iteration, median of ${ITERATIONS}`, ours: await ownTime(), floor, target: 2, unit: "ms" },
    { what: "cancel to stopReason", ours: await cancelToEnd(), target: 15, unit: "ms" },
  ];
  const vsix = "dist/hermes-vscode.vsix";
  if (existsSync(vsix))
    rows.push({ what: "packaged extension", ours: statSync(vsix).size / 1e6, target: 6, unit: "MB" });
  for (const { what, ours, floor: base, target, unit } of rows) {
    const beside = base === undefined ? "" : `  floor ${base.toFixed(2)} ${unit}, ratio ${(ours / base).toFixed(1)}`;
    console.log(`${what.padEnd(42)} ${ours.toFixed(2).padStart(8)} ${unit}  (at most ${target})${beside}`);
  }
}

await main();
