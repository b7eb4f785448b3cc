/** Cost of sub-agents: time to the first request, memory, iterations side by side, trivial tasks, and a cancel. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AIAgentOptions } from "../../agent-core/agent/agent-options.ts";
import { sessionsFolder } from "../../agent-core/config/home.ts";
import { AIAgent } from "../../agent-core/index.ts";
import { Journal } from "../../agent-core/sessions/journal.ts";
import { journalPath, newSessionId } from "../../agent-core/sessions/session-files.ts";
import type { Answer } from "../support/model-server/answer.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { median, type Row } from "./measuring.ts";

const ROUNDS = 15;
const ITERATIONS = 50;
const CHILDREN = 3;
const TRIVIAL_TASKS = 50;
/** Sub-agents that are open at the same time for the measurement of their memory. */
const OPEN = 12;

type Body = ModelServer["requests"][number]["body"];
type Bench = { readonly model: ModelServer; readonly agent: AIAgent; readonly startedAt: number[] };

export async function measureDelegation(): Promise<readonly Row[]> {
  const firstRequest = await withBench({}, timeToFirstRequest);
  const memory = await withBench({ delegation: { maxConcurrentChildren: OPEN } }, memoryOfChildren);
  const alone = await withBench({}, timeAlone);
  const together = await withBench({}, timeTogether);
  const trivial = await withBench({}, timeOfTrivialTasks);
  const cancel = await withBench({}, timeToCancel);
  return [
    { what: "sub-agent to its first request", ours: firstRequest, target: 15, unit: "ms" },
    { what: "memory of a sub-agent", ours: memory, target: 6, unit: "MB" },
    { what: "an iteration of three sub-agents side by side", ours: together, floor: alone, ratio: 1.3, unit: "ms" },
    { what: "a trivial task of a graph of 50", ours: trivial, target: 10, unit: "ms" },
    { what: "cancel with three streaming sub-agents", ours: cancel, target: 50, unit: "ms" },
  ];
}

async function withBench<Value>(options: AIAgentOptions, work: (bench: Bench) => Promise<Value>): Promise<Value> {
  const model = await startModelServer();
  const cwd = mkdtempSync(join(tmpdir(), "hermes-bench-delegation-"));
  const home = join(cwd, ".home");
  mkdirSync(home);
  writeFileSync(join(cwd, "a.txt"), "alpha\n");
  const sessionId = newSessionId(Date.now());
  const path = journalPath(sessionsFolder(home), sessionId) ?? "";
  const journal = new Journal({ path, sessionId, cwd, now: Date.now, onFailure: (message) => console.error(message) });
  const startedAt: number[] = [];
  const agent = new AIAgent({
    baseUrl: model.baseUrl,
    model: "bench",
    apiKey: "sk-bench-123456",
    environment: {},
    title: "Bench",
    cwd,
    home,
    sessionId,
    journal,
    callbacks: { toolProgress: (event) => void (event.type === "running" && startedAt.push(performance.now())) },
    ...options,
  });
  try {
    return await work({ model, agent, startedAt });
  } finally {
    await agent.close();
    journal.close();
    await model.stop();
    rmSync(cwd, { recursive: true, force: true });
  }
}

const goals = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `t${index}`);
const delegation = (count: number) =>
  call("delegate_task", { tasks: goals(count).map((goal) => ({ id: goal, goal })) });
const results = ({ messages }: Body): number => messages.filter(({ role }) => role === "tool").length;
const isParent = ({ messages }: Body): boolean =>
  messages.some(({ role, content }) => role === "user" && content === "go");

/** The agent delegates `count` tasks in each of its turns; `child` answers the sub-agents. */
function delegates({ model }: Bench, count: number, child: (body: Body) => Answer): void {
  model.respondWith((body) => {
    if (!isParent(body)) return child(body);
    return body.messages.at(-1)?.["role"] === "tool" ? say("done") : { parts: [delegation(count)] };
  });
}

async function timeToFirstRequest(bench: Bench): Promise<number> {
  delegates(bench, 1, () => say("ok"));
  const values: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bench.model.forget();
    bench.startedAt.length = 0;
    await bench.agent.chat("go");
    const request = bench.model.requests.find(({ body }) => !isParent(body));
    values.push((request?.at ?? Number.NaN) - (bench.startedAt[0] ?? 0));
  }
  return median(values);
}

async function memoryOfChildren(bench: Bench): Promise<number> {
  delegates(bench, OPEN, () => say("ok"));
  await bench.agent.chat("go");
  const before = usedBytes();
  const all = Promise.withResolvers<void>();
  let open = 0;
  delegates(bench, OPEN, () => {
    open += 1;
    if (open === OPEN) setTimeout(all.resolve, 20);
    return { silent: true };
  });
  const turn = bench.agent.runConversation({ userMessage: "go" });
  await all.promise;
  const after = usedBytes();
  bench.agent.turns.interrupt();
  await turn;
  return (after - before) / OPEN / 1e6;
}

function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const reading = (body: Body): Answer =>
  results(body) < ITERATIONS - 1
    ? { parts: [call("read_file", { path: "a.txt", offset: results(body) + 1 })] }
    : say("ok");

/** Milliseconds per iteration. */
async function timeAlone({ model, agent }: Bench): Promise<number> {
  model.respondWith(() => say("ok"));
  await agent.chat("warm up");
  model.respondWith(reading);
  const begin = performance.now();
  await agent.chat("alone");
  return (performance.now() - begin) / ITERATIONS;
}

async function timeTogether(bench: Bench): Promise<number> {
  delegates(bench, 1, () => say("ok"));
  await bench.agent.chat("go");
  delegates(bench, CHILDREN, reading);
  const begin = performance.now();
  await bench.agent.chat("go");
  return (performance.now() - begin) / (ITERATIONS * CHILDREN);
}

async function timeOfTrivialTasks(bench: Bench): Promise<number> {
  delegates(bench, 1, () => say("ok"));
  await bench.agent.chat("go");
  delegates(bench, TRIVIAL_TASKS, () => say("ok"));
  const begin = performance.now();
  await bench.agent.chat("go");
  return (performance.now() - begin) / TRIVIAL_TASKS;
}

async function timeToCancel(bench: Bench): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const streaming = Promise.withResolvers<void>();
    let open = 0;
    const reached = (): void => {
      open += 1;
      if (open === CHILDREN) streaming.resolve();
    };
    const until = new Promise<void>(() => undefined);
    delegates(bench, CHILDREN, () => ({
      parts: [
        { type: "text", text: "I begin" },
        { type: "wait", until, reached },
      ],
    }));
    const turn = bench.agent.runConversation({ userMessage: "go" });
    await streaming.promise;
    const begin = performance.now();
    bench.agent.turns.interrupt();
    await turn;
    values.push(performance.now() - begin);
  }
  return median(values);
}
