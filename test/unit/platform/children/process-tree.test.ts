import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { afterEach, expect, test, vi } from "vitest";
import { killTree } from "../../../../agent-core/platform/children/process-tree.ts";
import { stallingClock } from "../../../support/stalling-clock.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("a process that ignores SIGTERM is killed, also after a stall", async () => {
  const script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
  const child = spawn("sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const exit = once(child, "exit");
  await once(child.stdout, "data");
  const stall = stallingClock();
  const killed = killTree({ pid: child.pid ?? 0, marker: randomUUID() });
  stall(60_000);
  await killed;
  expect(child.signalCode ?? (await exit)[1]).toBe("SIGKILL");
});
