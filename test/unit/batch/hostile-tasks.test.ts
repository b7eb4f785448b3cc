import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { call } from "../../support/model-server/model-server.ts";
import { hasSandbox } from "../../support/programs.ts";
import { dataSet, startRig, think } from "./support/rig.ts";

const DISK_BYTES = 60_000_000;
/** Writes to a file, and goes on when the disk is full. */
const fill = (file: string): string => `while :; do head -c 1G /dev/zero >> ${file}; done`;

test.runIf(hasSandbox())("A task that fills the disk is ended, and the others go on", async () => {
  const rig = await startRig();
  const commands = [fill("big"), fill("/tmp/big"), "sleep 1"];
  rig.model.respondWith(({ messages }) => {
    const at = commands.findIndex((_, index) => JSON.stringify(messages).includes(`task number ${index}`));
    const isDone = messages.some(({ role }) => role === "tool");
    return isDone ? think("done") : { parts: [call("terminal", { command: commands[at] ?? "" })] };
  });
  const small = join(rig.folder, "small");
  mkdirSync(small);
  const file = rig.write("tasks.jsonl", dataSet(commands.map((_, index) => `task number ${index}`)));
  const program = join(import.meta.dirname, "support/coordinator-process.ts");
  const disk = [
    "--die-with-parent",
    "--dev-bind",
    "/",
    "/",
    "--size",
    String(DISK_BYTES),
    "--tmpfs",
    small,
    process.execPath,
    program,
  ];
  const usual = ["--batch_size=9", "--run_name=r1", "--distribution=terminal_only", "--retries=0"];
  const to = ["--out", join(rig.folder, "data"), "--dataset_file", file, "--num_workers=3"];
  const child = spawn("bwrap", [...disk, "batch", ...to, ...usual], {
    env: { ...process.env, ...rig.environment, TMPDIR: small },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [report, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(report).toMatch(/task 0 failed: the task filled the disk: its folder had \d\d MB/);
  expect(report).toMatch(/task 1 failed: the task filled the disk: its folder had \d\d MB/);
  expect(rig.lines("trajectories.jsonl").map((row) => row.prompt_index)).toEqual([2]);
  expect(code).toBe(1);
  expect(readdirSync(small)).toEqual([]);
});
