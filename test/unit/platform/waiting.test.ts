import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { waitForEvent } from "../../../agent-core/platform/deadline.ts";

const LIMIT_MS = 1_000;
let events: EventEmitter;

beforeEach(() => {
  events = new EventEmitter();
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Subscribes to two events. */
function listen(done: () => void): { dispose(): unknown }[] {
  return ["one", "other"].map((name) => {
    events.on(name, done);
    return { dispose: () => events.off(name, done) };
  });
}

/** Number of listeners and timers. */
function left(): readonly number[] {
  return [events.listenerCount("one"), events.listenerCount("other"), vi.getTimerCount()];
}

test("the wait subscribes at once, and gives true with the first event", async () => {
  const waiting = waitForEvent(LIMIT_MS, listen);
  expect(left()).toEqual([1, 1, 1]);
  events.emit("other");
  events.emit("one");
  expect(await waiting).toBe(true);
  expect(left()).toEqual([0, 0, 0]);
});

test("the wait gives false after the timeout", async () => {
  const waiting = waitForEvent(LIMIT_MS, listen);
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
  expect(left()).toEqual([1, 1, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toBe(false);
  expect(left()).toEqual([0, 0, 0]);
});

test("an event during the subscription counts", async () => {
  const waiting = waitForEvent(LIMIT_MS, (done) => {
    done();
    return listen(done);
  });
  expect(await waiting).toBe(true);
  expect(left()).toEqual([0, 0, 0]);
});

test("the wait rejects when subscribing fails, and leaves no timer", async () => {
  const waiting = waitForEvent(LIMIT_MS, () => {
    throw new Error("nothing to listen to");
  });
  await expect(waiting).rejects.toThrow("nothing to listen to");
  expect(left()).toEqual([0, 0, 0]);
});
