import { expect, test } from "vitest";
import { KeyedQueue } from "../../../agent-core/platform/keyed-queue.ts";

test("tasks of one key run in order, and tasks of another key do not wait", async () => {
  const queue = new KeyedQueue();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = queue.run("a", async () => {
    await first.promise;
    done.push("one");
  });
  const two = queue.run("a", async () => done.push("two"));
  await queue.run("b", async () => done.push("other"));
  first.resolve();
  await Promise.all([one, two]);
  expect(done).toEqual(["other", "one", "two"]);
});

test("a failed task rejects for its caller only", async () => {
  const queue = new KeyedQueue();
  const failed = queue.run("a", () => Promise.reject(new Error("no room")));
  const next = queue.run("a", () => Promise.resolve("done"));
  await expect(failed).rejects.toThrow("no room");
  expect(await next).toBe("done");
});
