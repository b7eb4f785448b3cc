import { execFileSync } from "node:child_process";
import { createReadStream, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { OutputFlow } from "../../../../agent-core/platform/children/output-flow.ts";

/** Longer than the idle time after which an output is complete. */
const STALL_MS = 700;

function flowInto(outputFile?: string) {
  let taken = 0;
  const onOutput = (bytes: Buffer): void => {
    taken += bytes.length;
  };
  const stream = new PassThrough();
  const flow = new OutputFlow({ outputFile, onOutput, stop: () => undefined });
  flow.add(stream);
  return { flow, stream, taken: () => taken };
}

/** Blocks the thread. */
function stall(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STALL_MS);
}

test("output from the time of a stall arrives before the command ends", async () => {
  const { flow, stream, taken } = flowInto();
  const drained = flow.drained();
  // Timers that are due come before what has arrived meanwhile.
  setImmediate(() => {
    stall();
    setImmediate(() => stream.end("late"));
  });
  await drained;
  expect(taken()).toBe(4);
});

test("output that waits for a slow disk is not idle", async () => {
  const pipe = join(mkdtempSync(join(tmpdir(), "hermes-flow-")), "pipe");
  execFileSync("sh", ["-c", `mkfifo ${pipe}`]);
  const { flow, stream, taken } = flowInto(pipe);
  for (let pieces = 0; pieces < 100; pieces += 1) stream.write(Buffer.alloc(10_000));
  stream.end();
  let isDrained = false as boolean;
  const drained = flow.drained().then(() => {
    isDrained = true;
  });
  for (const end = performance.now() + STALL_MS; performance.now() < end; ) await nextTurn();
  expect(isDrained).toBe(false);
  createReadStream(pipe).resume();
  await drained;
  expect(taken()).toBe(1_000_000);
});

test("an open stream without output ends after the idle time", async () => {
  const { flow, stream, taken } = flowInto();
  stream.write("all");
  await flow.drained();
  expect(taken()).toBe(3);
});
