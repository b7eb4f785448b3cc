/** The index over sessions at 100,000 messages: opening it, searching it, and storing a turn beside it. */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve as absolute, join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { SessionIndex } from "../../agent-core/sessions/index/session-index.ts";
import { Journal } from "../../agent-core/sessions/journal.ts";
import { median, quantile, type Row } from "./measuring.ts";

const SESSIONS = 1_000;
const MESSAGES = 100;
const WORDS_A_MESSAGE = 40;
const VOCABULARY = 5_000;
const OPENINGS = 5;
const SEARCHES = 200;
const PREFIXES = 20;
/** All words of the vocabulary share their first four characters, and a quarter of all words the fifth. */
const PREFIX_CHARS = [3, 4, 5, 6];
const TURNS = 50;
const OWN = "20261120_120000_ffffffff";

export async function measureSessions(): Promise<readonly Row[]> {
  // The thread as it is shipped; from its sources it takes longer to start than to answer.
  Object.assign(globalThis, { __INDEX_WORKER__: pathToFileURL(absolute("dist/session-index.js")).href });
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-sessions-"));
  try {
    return await measureIn(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureIn(folder: string): Promise<readonly Row[]> {
  const journals = join(folder, "sessions");
  const file = join(folder, "index.sqlite");
  const open = (): SessionIndex => new SessionIndex({ journals, file, log: console.error });
  writeSessions(journals);
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const first = new SessionIndex({
    journals,
    file,
    log: () => undefined,
    building: ({ done, total }) => done === total && resolve(),
  });
  const building = await build(first, done);
  await first.close();
  const opening = { ours: [] as number[], floor: [] as number[] };
  for (let round = 0; round < OPENINGS; round += 1) {
    opening.floor.push(await withFloor(file, (ask) => timed(() => ask({}))));
    const index = open();
    opening.ours.push(await timed(() => index.ask("list", { limit: 50 })));
    await index.close();
  }
  const queries = Array.from({ length: SEARCHES }, (_, round) => (round % 2 === 0 ? word() : `${word()} ${word()}`));
  const plain = await withFloor(file, (ask) => inTurn(queries, (query) => ask({ query })));
  const index = open();
  const searching = await inTurn(queries, (query) => index.ask("search", { query, limit: 10, except: OWN }));
  const beginnings = PREFIX_CHARS.flatMap((chars) => Array.from({ length: PREFIXES }, () => word().slice(0, chars)));
  const typing = await inTurn(beginnings, (query) => index.ask("found", { query, limit: 20 }));
  await index.close();
  return [
    ...building,
    {
      what: "index of 100,000 messages: opened",
      ours: median(opening.ours),
      floor: median(opening.floor),
      target: 150,
      unit: "ms",
    },
    {
      what: "index of 100,000 messages: search, p95",
      ours: quantile(searching, 0.95),
      floor: quantile(plain, 0.95),
      target: 10,
      unit: "ms",
    },
    { what: "the same, a word that is being typed, p95", ours: quantile(typing, 0.95), target: 50, unit: "ms" },
    { what: "storing a turn beside 1,000 sessions", ours: await storeTurns(journals), target: 3, unit: "ms" },
  ];
}

/** A thread that does the same the shortest way, from its start to its end. */
async function withFloor<Value>(
  file: string,
  work: (ask: (question: { readonly query?: string }) => Promise<unknown>) => Promise<Value>,
): Promise<Value> {
  const worker = new Worker(new URL("index-floor.mjs", import.meta.url), { workerData: file });
  try {
    return await work(async (question) => {
      const answered = once(worker, "message");
      worker.postMessage(question);
      await answered;
    });
  } finally {
    await worker.terminate();
  }
}

async function inTurn(queries: readonly string[], ask: (query: string) => Promise<unknown>): Promise<number[]> {
  const values: number[] = [];
  for (const query of queries) values.push(await timed(() => ask(query)));
  return values;
}

/** Longest pause of the event loop during an index build, and the time of a list meanwhile. */
async function build(index: SessionIndex, done: Promise<void>): Promise<readonly Row[]> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const begin = performance.now();
  let isDone = false as boolean;
  void done.then(() => {
    isDone = true;
  });
  const listing: number[] = [];
  while (!isDone) listing.push(await timed(() => index.ask("list", { limit: 50 })));
  delays.disable();
  const seconds = (performance.now() - begin) / 1_000;
  return [
    { what: "index of 100,000 messages: built", ours: seconds, target: 30, unit: "s" },
    { what: "index being built: event loop, longest stop", ours: delays.max / 1e6, target: 15, unit: "ms" },
    { what: "index being built: list, p95", ours: quantile(listing, 0.95), target: 250, unit: "ms" },
  ];
}

/** Four messages and a sync each. */
async function storeTurns(journals: string): Promise<number> {
  const path = join(journals, `${OWN}.jsonl`);
  const journal = new Journal({ path, sessionId: OWN, cwd: "/project", now: Date.now, onFailure: console.error });
  const values: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    values.push(
      await timed(async () => {
        for (let entry = 0; entry < 4; entry += 1) journal.append({ type: "message", message: message() });
        await journal.sync();
      }),
    );
  }
  journal.close();
  return median(values);
}

function writeSessions(journals: string): void {
  mkdirSync(journals, { recursive: true });
  for (let number = 0; number < SESSIONS; number += 1) {
    const id = `20261119_120000_${number.toString(16).padStart(8, "0")}`;
    const lines = [{ type: "session", version: 1, id, cwd: "/project", at: number }];
    const messages = Array.from({ length: MESSAGES }, () => ({ type: "message", message: message(), at: number }));
    writeFileSync(join(journals, `${id}.jsonl`), [...lines, ...messages, ""].map(asLine).join("\n"));
  }
}

const asLine = (entry: object | string): string => (typeof entry === "string" ? entry : JSON.stringify(entry));

function message() {
  return { role: "user", content: Array.from({ length: WORDS_A_MESSAGE }, word).join(" ") } as const;
}

/** A few words are said far more often than the rest. */
function word(): string {
  return `word${Math.floor(VOCABULARY * Math.random() ** 2)}`;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
