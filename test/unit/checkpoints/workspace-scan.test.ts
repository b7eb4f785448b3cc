import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { WorkspaceScan } from "../../../agent-core/checkpoints/workspace-scan.ts";
import { stallingClock } from "../../support/stalling-clock.ts";

const FILES = 40;

afterEach(() => {
  vi.restoreAllMocks();
});

function workspace(): string {
  const root = mkdtempSync(join(tmpdir(), "hermes-scan-"));
  mkdirSync(join(root, "deep"));
  for (let n = 0; n < FILES; n += 1) writeFileSync(join(root, "deep", `${n}.txt`), "");
  return root;
}

test("a stall of a minute does not make a workspace too large", async () => {
  const stall = stallingClock();
  const scanning = new WorkspaceScan([workspace()]).scan();
  stall(60_000);
  expect((await scanning)?.files.size).toBe(FILES);
});

test("the scan of a slow file system times out", async () => {
  const root = workspace();
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => {
    now += 200;
    return now;
  });
  expect(await new WorkspaceScan([root]).scan()).toBeUndefined();
});

test("the folder of the agent's own files in a workspace is left out", async () => {
  const root = workspace();
  const own = join(root, ".home", "vscode");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "journal.jsonl"), "{}");
  writeFileSync(join(root, ".home", "config.yaml"), "");
  const files = [...((await new WorkspaceScan([root], own).scan())?.files.keys() ?? [])];
  expect(files.filter((path) => path.includes(".home"))).toEqual([join(root, ".home", "config.yaml")]);
});
