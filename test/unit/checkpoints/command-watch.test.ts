import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChangeLog } from "../../../agent-core/checkpoints/change-log.ts";
import { CommandWatch } from "../../../agent-core/checkpoints/command-watch.ts";
import { gitBlobs } from "../../../agent-core/checkpoints/git-blobs.ts";
import { hashOf, ObjectStore } from "../../../agent-core/checkpoints/object-store.ts";
import { WorkspaceScan } from "../../../agent-core/checkpoints/workspace-scan.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const command = { source: "command" };

/** Time passes as soon as something waits for it. */
class HurriedClock extends ManualClock {
  override every(ms: number, tick: () => void): () => void {
    const stop = super.every(ms, tick);
    void this.advance(ms * 100);
    return stop;
  }
}

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
    git: { ...gitBlobs([]), unchanged: () => git.promise.then(() => new Map()) },
    log,
    notifyUser: () => undefined,
    clock: new HurriedClock(),
  });
  await watch.before(command); // gives up waiting for the copies
  writeFileSync(path, "after\n");
  git.resolve();
  await expect.poll(() => store.has(hashOf("copied after a.txt\n"))).toBe(true);
  await watch.after(command);
  expect(log.changes).toMatchObject([{ path, by: "command", before: "unknown" }]);
  await watch.close();
});

test("a command waits for the copies of a small workspace, however slow the machine is", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-watch-"));
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(folder, name), name);
  const store = new ObjectStore(mkdtempSync(join(tmpdir(), "hermes-objects-")));
  const watch = new CommandWatch({
    scan: new WorkspaceScan([folder]),
    store,
    notifyUser: () => undefined,
    clock: new ManualClock(),
    git: gitBlobs([]),
    log: new ChangeLog({ entries: [], position: () => 0, journal: () => undefined }),
  });
  await watch.before(command);
  expect(await Promise.all(["a.txt", "b.txt"].map((text) => store.has(hashOf(text))))).toEqual([true, true]);
  await watch.close();
});

test("a change that is logged late stays with the message of its command", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hermes-watch-"));
  const path = join(folder, "a.txt");
  writeFileSync(path, "before\n");
  let position = 4;
  const log = new ChangeLog({ entries: [], position: () => position, journal: () => undefined });
  const watch = new CommandWatch({
    scan: new WorkspaceScan([folder]),
    log,
    notifyUser: () => undefined,
    store: new ObjectStore(mkdtempSync(join(tmpdir(), "hermes-objects-"))),
    git: gitBlobs([]),
  });
  await watch.before(command);
  writeFileSync(path, "after\n");
  const logged = watch.after(command);
  position = 6; // the next message of the user
  await logged;
  expect(log.changes).toMatchObject([{ path, position: 4 }]);
  await watch.close();
});
