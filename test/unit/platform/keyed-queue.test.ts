import { expect, test } from "vitest";
import { KeyedQueue } from "../../../agent-core/platform/keyed-queue.ts";

test("what is asked for under one name is done one after the other, in its order; another name does not wait", async () => {
  const turns = new KeyedQueue();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = turns.run("a", async () => {
    await first.promise;
    done.push("one");
  });
  const two = turns.run("a", async () => done.push("two"));
  await turns.run("b", async () => done.push("other"));
  first.resolve();
  await Promise.all([one, two]);
  expect(done).toEqual(["other", "one", "two"]);
});

test("what fails is told to who asked for it, and keeps nobody waiting", async () => {
  const turns = new KeyedQueue();
  const failed = turns.run("a", () => Promise.reject(new Error("no room")));
  const next = turns.run("a", () => Promise.resolve("done"));
  await expect(failed).rejects.toThrow("no room");
  expect(await next).toBe("done");
});
