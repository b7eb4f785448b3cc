import { expect, test } from "vitest";
import { withinTime } from "../../../agent-core/platform/within-time.ts";

test("work within the limit has a result", () => {
  expect(withinTime(1_000, () => 7)).toEqual({ value: 7 });
});

test("work that needs the processor for longer has none", () => {
  const endless = (): never => {
    for (;;);
  };
  expect(withinTime(20, endless)).toBeUndefined();
});

test("work that got no processor time runs again", () => {
  let runs = 0;
  const stalledOnce = (): number => {
    runs += 1;
    if (runs === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);
    return runs;
  };
  expect(withinTime(20, stalledOnce)).toEqual({ value: 2 });
});

test("an error of the work is thrown", () => {
  const failing = (): never => {
    throw new Error("broken");
  };
  expect(() => withinTime(1_000, failing)).toThrow("broken");
});
