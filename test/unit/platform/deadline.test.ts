import { expect, onTestFinished, test } from "vitest";
import { abortable, Deadline } from "../../../agent-core/platform/deadline.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const LIMIT_MS = 1_000;
const never = new Promise<void>(() => undefined);

test("a deadline waits for work that settles in time, failed or not", async () => {
  const clock = new ManualClock();
  expect(await new Deadline(LIMIT_MS, clock).waitFor(Promise.resolve())).toBe(true);
  expect(await new Deadline(LIMIT_MS, clock).waitFor(Promise.reject(new Error("no room")))).toBe(true);
});

test("a deadline passes after its limit, no sooner", async () => {
  const clock = new ManualClock();
  const deadline = new Deadline(LIMIT_MS, clock);
  let inTime: boolean | undefined;
  void deadline.waitFor(never).then((result) => {
    inTime = result;
  });
  await clock.advance(LIMIT_MS - 1);
  expect(inTime).toBeUndefined();
  await clock.advance(1);
  expect(inTime).toBe(false);
  expect(deadline.hasPassed()).toBe(true);
});

test("an idle timeout restarts with every piece of data", async () => {
  const clock = new ManualClock();
  const deadline = new Deadline(LIMIT_MS, clock);
  const { promise, resolve } = Promise.withResolvers<void>();
  const waiting = deadline.waitFor(promise);
  for (let piece = 0; piece < 5; piece += 1) {
    await clock.advance(LIMIT_MS - 100);
    deadline.restart();
  }
  resolve();
  expect(await waiting).toBe(true);
});

test("work that fails after its signal was aborted ends no process", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const work = Promise.withResolvers<never>();
  await expect(abortable(work.promise, AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
  work.reject(new Error("late"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

test("a machine's sleep is not counted", async () => {
  const clock = new ManualClock();
  const deadline = new Deadline(LIMIT_MS, clock);
  let inTime: boolean | undefined;
  void deadline.waitFor(never).then((result) => {
    inTime = result;
  });
  await clock.stall(3_600_000);
  expect(inTime).toBeUndefined();
  expect(deadline.remaining()).toBeGreaterThan(LIMIT_MS / 2);
  await clock.advance(LIMIT_MS);
  expect(inTime).toBe(false);
});
