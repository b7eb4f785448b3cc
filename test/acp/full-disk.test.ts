import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hasSandbox } from "../support/programs.ts";

const DISK_BYTES = 30_000_000;

test.runIf(hasSandbox())("a turn on a disk without a byte left is saved, and there after the agent was killed", () => {
  const home = mkdtempSync(join(tmpdir(), "hermes-full-disk-"));
  const disk = ["--dev-bind", "/", "/", "--size", String(DISK_BYTES), "--tmpfs", home];
  const { stdout, stderr } = spawnSync("bwrap", [...disk, "node", "test/support/full-disk.ts", home], {
    encoding: "utf8",
  });
  rmSync(home, { recursive: true });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^\{/), ""]);
  expect(JSON.parse(stdout)).toEqual({
    result: expect.objectContaining({ stopReason: "end_turn" }),
    told: expect.stringContaining("Free some disk space: the disk is full"),
    found: ["list files", "read a.txt", 'search for "two'],
    listed: 1,
  });
});

test.runIf(hasSandbox())("on a read-only home a session runs in memory, and each message names the cause", () => {
  const home = mkdtempSync(join(tmpdir(), "hermes-read-only-"));
  const disk = ["--dev-bind", "/", "/", "--ro-bind", home, home];
  const { stdout, stderr } = spawnSync("bwrap", [...disk, "node", "test/support/read-only-home.ts", home], {
    encoding: "utf8",
  });
  rmSync(home, { recursive: true });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^\{/), ""]);
  expect(JSON.parse(stdout)).toEqual({
    result: expect.objectContaining({ stopReason: "end_turn" }),
    session: expect.stringMatching(/not being saved: the disk is read-only \(EROFS.*only in memory/),
    grants: expect.stringMatching(/Could not write a permission to .*config\.yaml: .*read-only/),
    memory: expect.stringMatching(/^the disk is read-only/),
    output: join(tmpdir(), "hermes-output.log"),
    head: "",
  });
});
