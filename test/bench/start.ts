/** Time from the start of a process, a session or a prompt to the model, beside the floor of the same run. */
import { spawn } from "node:child_process";
import { AcpProcess } from "../support/acp-process.ts";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { byTurns, environmentOf, median, type Row, times } from "./measuring.ts";
import { type Programs, processorTime, type Run, withPrograms } from "./programs.ts";

const STARTS = 21;
const SESSIONS = 15;
const PROMPTS = 15;
/** Time between session/new and the first prompt in which the agent can prepare itself. Milliseconds. */
const TYPING_MS = 300;

type Start = { readonly ms: number; readonly processorMs: number };

export async function measureStart(): Promise<readonly Row[]> {
  const headless = await byTurnsToRequest();
  const stdio = await byTurns(STARTS, ourStart, floorStart);
  const sessions = await firstPrompts(0);
  const prepared = await firstPrompts(TYPING_MS);
  return [
    startRow("headless: process start to first request", headless, 1.6),
    startRow("stdio: process start to initialize", stdio, 1.3),
    { what: "session/new", ours: median(prepared.map(({ opening }) => opening)), target: 10, unit: "ms" },
    {
      what: `first prompt to request, ${TYPING_MS} ms after session/new`,
      ours: median(prepared.map(({ first }) => first)),
      target: 15,
      unit: "ms",
    },
    {
      what: "first prompt to request, at once after session/new",
      ours: median(sessions.map(({ first }) => first)),
      target: 40,
      unit: "ms",
    },
    { what: "later prompts to request", ours: median(prepared.map(({ later }) => later)), target: 3, unit: "ms" },
  ];
}

function startRow(
  what: string,
  { ours, floor }: { readonly ours: readonly Start[]; readonly floor: readonly Start[] },
  ratio: number,
): Row {
  const time = (starts: readonly Start[]): number => median(starts.map(({ ms }) => ms));
  const processor = (starts: readonly Start[]): number => median(starts.map(({ processorMs }) => processorMs));
  return {
    what,
    ratio,
    unit: "ms",
    ours: time(ours),
    floor: time(floor),
    processor: { ours: processor(ours), floor: processor(floor) },
  };
}

const byTurnsToRequest = () =>
  withPrograms(({ model, ours, floor }: Programs) => {
    model.respondWith(() => say("done"));
    const toRequest = async (run: () => Promise<Run>): Promise<Start> => {
      const { startedAt, processorMs } = await run();
      return { ms: (model.requests[0]?.at ?? 0) - startedAt, processorMs };
    };
    return byTurns(
      STARTS,
      () => toRequest(ours),
      () => toRequest(floor),
    );
  });

/** The shortest agent over stdio that can fetch. */
async function floorStart(): Promise<Start> {
  const begin = performance.now();
  const child = spawn("node", ["test/bench/floor-agent.mjs"], { stdio: ["pipe", "pipe", "inherit"] });
  const answered = new Promise((resolve) => child.stdout.once("data", resolve));
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize" })}\n`);
  await answered;
  const start = { ms: performance.now() - begin, processorMs: processorTime(child.pid) };
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.end();
  await ended;
  return start;
}

async function ourStart(): Promise<Start> {
  const begin = performance.now();
  const agent = new AcpProcess();
  await agent.initialize();
  const start = { ms: performance.now() - begin, processorMs: processorTime(agent.child.pid) };
  await agent.stop();
  return start;
}

type Opened = { readonly opening: number; readonly first: number; readonly later: number };

/** Agents of their own, one after the other; each waits `pauseMs` between session/new and its first prompt. */
async function firstPrompts(pauseMs: number): Promise<readonly Opened[]> {
  const model = await startModelServer();
  model.respondWith(() => say("ok"));
  const opened: Opened[] = [];
  for (let round = 0; round <= SESSIONS; round += 1) opened.push(await firstPrompt(model, pauseMs));
  await model.stop();
  return opened.slice(1); // the first one fills the caches
}

async function firstPrompt(model: ModelServer, pauseMs: number): Promise<Opened> {
  const agent = new AcpProcess(environmentOf(model));
  await agent.initialize();
  const begin = performance.now();
  const sessionId = await agent.newSession();
  const opening = performance.now() - begin;
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
  const toRequest = async (): Promise<number> => {
    const asked = performance.now();
    await agent.prompt(sessionId, "go");
    return (model.requests.at(-1)?.at ?? asked) - asked;
  };
  const first = await toRequest();
  const later = await times(PROMPTS, toRequest);
  await agent.stop();
  return { opening, first, later };
}
