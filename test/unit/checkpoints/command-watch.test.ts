import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChangeLog } from "../../../agent-core/checkpoints/change-log.ts";
import { CommandWatch } from "../../../agent-core/checkpoints/command-watch.ts";
import { hashOf, ObjectStore } from "../../../agent-core/checkpoints/object-store.ts";
import { WorkspaceScan } from "../../../agent-core/checkpoints/workspace-scan.ts";

test("a change is logged when its command was faster than the copies of the workspace", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-watch-"));
  const path = join(folder, "a.txt");
  writeFileSync(path, "before\n");
  writeFileSync(join(folder, "b.txt"), "copied after a.txt\n");
  const git = Promise.withResolvers<void>();
  const log = new ChangeLog({ entries: [], position: () => 0, journal: () => undefined });
  const store = new ObjectStore(mkdtempSync(join(tmpdir(), "hermes-objects-")));
  const watch = new CommandWatch({
    scan: new WorkspaceScan([folder]),
    store,
    git: { unchanged: () => git.promise.then(() => new Map()), read: async () => undefined },
    log,
    notifyUser: () => undefined,
  });
  await watch.before(); // gives up waiting for the copies
  writeFileSync(path, "after\n");
  git.resolve();
  await expect.poll(() => store.has(hashOf("copied after a.txt\n"))).toBe(true);
  await watch.after("command");
  expect(log.changes).toMatchObject([{ path, by: "command", before: "unknown" }]);
  await watch.close();
});
