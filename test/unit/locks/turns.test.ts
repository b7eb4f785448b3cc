import { expect, test } from "vitest";
import { Turns } from "../../../agent-core/locks/turns.ts";

test("what is asked for under one name is done one after the other, in its order; another name does not wait", async () => {
  const turns = new Turns();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = turns.take("a", async () => {
    await first.promise;
    done.push("one");
  });
  const two = turns.take("a", async () => done.push("two"));
  await turns.take("b", async () => done.push("other"));
  first.resolve();
  await Promise.all([one, two]);
  expect(done).toEqual(["other", "one", "two"]);
});

test("what fails is told to who asked for it, and keeps nobody waiting", async () => {
  const turns = new Turns();
  const failed = turns.take("a", () => Promise.reject(new Error("no room")));
  const next = turns.take("a", () => Promise.resolve("done"));
  await expect(failed).rejects.toThrow("no room");
  expect(await next).toBe("done");
});
