// Background work of a home: idle time, one process at a time, and the end at once when a turn begins.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { BackgroundRunner, type BackgroundWork } from "../../../agent-core/learning/background-runner.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const IDLE_MS = 60_000;

let home: string;
let clock: ManualClock;
let log: string[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-learning-"));
  clock = new ManualClock();
  log = [];
});

function runnerOf(...works: readonly BackgroundWork[]): BackgroundRunner {
  return new BackgroundRunner({ home, works, clock, idleMs: () => IDLE_MS, log: (line) => log.push(line) });
}

/** Work of some pieces, which are done at once. */
function pieces(loop: BackgroundWork["loop"], count: number, done: string[]): BackgroundWork {
  let left = count;
  return {
    loop,
    async doNext() {
      if (left === 0) return false;
      left -= 1;
      done.push(loop);
      return true;
    },
  };
}

/** Work that runs until it is stopped. */
function endless() {
  const events: string[] = [];
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const work: BackgroundWork = {
    loop: "consolidation",
    async doNext(signal) {
      events.push("started");
      started.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      events.push("stopped");
      ended.resolve();
      throw signal.reason;
    },
  };
  return { work, events, started: started.promise, ended: ended.promise };
}

test("the runner begins when no turn has run for the idle time", async () => {
  const { work, events, started } = endless();
  const runner = runnerOf(work);
  runner.start();
  const endTurn = runner.beginTurn();
  await clock.advance(2 * IDLE_MS);
  endTurn();
  await clock.advance(IDLE_MS - 1);
  expect(events).toEqual([]);
  await clock.advance(20_000);
  await started;
  await runner.dispose();
  expect(events).toEqual(["started", "stopped"]);
});

test("stops in the moment in which a turn begins", async () => {
  const { work, events, started, ended } = endless();
  const runner = runnerOf(work);
  runner.start();
  await clock.advance(2 * IDLE_MS);
  await started;
  runner.beginTurn();
  await ended;
  expect(events).toEqual(["started", "stopped"]);
  expect(log).toEqual([]);
  await runner.dispose();
});

test("the runner does all that there is, one loop after the other", async () => {
  const done: string[] = [];
  const runner = runnerOf(pieces("consolidation", 2, done), pieces("distillation", 1, done));
  expect(await runner.runNow(new AbortController().signal)).toEqual([]);
  expect(done).toEqual(["consolidation", "consolidation", "distillation"]);
});

test("a loop that fails is logged and named to the one who asked, and the others go on", async () => {
  const done: string[] = [];
  const failing: BackgroundWork = { loop: "consolidation", doNext: () => Promise.reject(new Error("no space")) };
  const run = runnerOf(failing, pieces("report", 1, done)).runNow(new AbortController().signal);
  expect(await run).toEqual(["consolidation failed: no space"]);
  expect(log).toEqual(["learning: consolidation failed: no space"]);
  expect(done).toEqual(["report"]);
});

test("the runner works in one place at a time", async () => {
  const { work, started } = endless();
  const first = runnerOf(work);
  const cancel = new AbortController();
  const running = first.runNow(cancel.signal);
  await started;
  expect(await runnerOf(pieces("report", 1, [])).runNow(cancel.signal)).toBeUndefined();
  cancel.abort();
  await expect(running).rejects.toThrow();
  expect(await runnerOf(pieces("report", 1, [])).runNow(new AbortController().signal)).toEqual([]);
});

test("the runner rests for five minutes after a look that found nothing, or until a turn ends", async () => {
  let looks = 0;
  const work: BackgroundWork = { loop: "report", doNext: async () => ++looks < 0 };
  const runner = runnerOf(work);
  runner.start();
  await clock.advance(IDLE_MS);
  expect(looks).toBe(1);
  await clock.advance(285_000);
  expect(looks).toBe(1);
  await clock.advance(30_000);
  expect(looks).toBe(2);
  runner.beginTurn()();
  await clock.advance(IDLE_MS + 15_000);
  expect(looks).toBe(3);
  await runner.dispose();
});
