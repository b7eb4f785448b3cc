import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { waitForEvent } from "../../../agent-core/platform/waiting.ts";

const LIMIT_MS = 1_000;
let events: EventEmitter;

beforeEach(() => {
  events = new EventEmitter();
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Listens to two events, either of which ends the waiting. */
function listen(done: () => void): { dispose(): unknown }[] {
  return ["one", "other"].map((name) => {
    events.on(name, done);
    return { dispose: () => events.off(name, done) };
  });
}

/** Listeners and timers that are still there. */
function left(): readonly number[] {
  return [events.listenerCount("one"), events.listenerCount("other"), vi.getTimerCount()];
}

test("listens at once, and is true with the first event", async () => {
  const waiting = waitForEvent(LIMIT_MS, listen);
  expect(left()).toEqual([1, 1, 1]);
  events.emit("other");
  events.emit("one");
  expect(await waiting).toBe(true);
  expect(left()).toEqual([0, 0, 0]);
});

test("is false when nothing has come in time", async () => {
  const waiting = waitForEvent(LIMIT_MS, listen);
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1);
  expect(left()).toEqual([1, 1, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toBe(false);
  expect(left()).toEqual([0, 0, 0]);
});

test("what is so already while it begins to listen ends it, too", async () => {
  const waiting = waitForEvent(LIMIT_MS, (done) => {
    done();
    return listen(done);
  });
  expect(await waiting).toBe(true);
  expect(left()).toEqual([0, 0, 0]);
});

test("rejects with why it could not listen, and leaves no timer", async () => {
  const waiting = waitForEvent(LIMIT_MS, () => {
    throw new Error("nothing to listen to");
  });
  await expect(waiting).rejects.toThrow("nothing to listen to");
  expect(left()).toEqual([0, 0, 0]);
});
