import { execFileSync } from "node:child_process";
import { createReadStream, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { readOutputFile } from "../../../../agent-core/host/terminals/output-file.ts";
import {
  fallbackOutputFile,
  makeOutputFile,
  OutputFlow,
} from "../../../../agent-core/platform/children/output-flow.ts";

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

test("output that a full disk refuses goes to the temporary directory, else the reader says that it was not stored", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-flow-"));
  for (const isTemporaryFull of [false, true]) {
    const path = join(folder, `full-${isTemporaryFull}-${Date.now()}.log`);
    symlinkSync("/dev/full", path);
    const fallback = fallbackOutputFile(path);
    if (isTemporaryFull) symlinkSync("/nowhere", fallback);
    const { flow, stream, taken } = flowInto(path);
    for (let pieces = 0; pieces < 30; pieces += 1) stream.write(Buffer.alloc(10_000, "a"));
    stream.end("end");
    await flow.drained();
    expect(taken()).toBe(300_003);
    const { tail, head, file } = await readOutputFile(path);
    expect(isTemporaryFull ? head : tail.slice(-4)).toMatch(
      isTemporaryFull ? /^\[The output was not stored/ : /^aend$/,
    );
    expect(file).toBe(isTemporaryFull ? undefined : fallback);
    rmSync(fallback);
  }
});

test("an output file whose folder cannot be made is made in the temporary directory", async () => {
  const path = join("/dev/null/outputs", `lost-${Date.now()}.log`);
  const { flow, stream } = flowInto(makeOutputFile(path));
  stream.end("stored");
  await flow.drained();
  expect(await readOutputFile(path)).toMatchObject({ head: "stored", file: fallbackOutputFile(path) });
  rmSync(fallbackOutputFile(path));
});

test("an open stream without output ends after the idle time", async () => {
  const { flow, stream, taken } = flowInto();
  stream.write("all");
  await flow.drained();
  expect(taken()).toBe(3);
});

test("a process that prints without end does not hold the end of its command", async () => {
  const { flow, stream } = flowInto();
  const printing = setInterval(() => stream.write("more\n"), 50);
  await flow.drained();
  clearInterval(printing);
  stream.end();
});
