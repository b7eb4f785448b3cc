import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeOwnedFolder } from "../../../agent-core/platform/make-folder.ts";

test("A new private folder removes those of processes that have ended, and no others", () => {
  const parent = mkdtempSync(join(tmpdir(), "make-folder-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const ended = join(parent, `ours-${spawnSync("true").pid}-abc`);
  for (const path of [ended, join(parent, `ours-${process.ppid}-abc`), join(parent, "ours-else")]) mkdirSync(path);
  const made = makeOwnedFolder("ours-", parent);
  expect([ended, join(parent, `ours-${process.ppid}-abc`), join(parent, "ours-else"), made].map(existsSync)).toEqual([
    false,
    true,
    true,
    true,
  ]);
});
