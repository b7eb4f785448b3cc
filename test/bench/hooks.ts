/** Cost of hooks for one tool call: without any, and with one command that passes. Floor: the start of a shell. */
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { afterCall, beforeCall } from "../../agent-core/agent/call-hooks.ts";
import { homeHook } from "../../agent-core/hooks/command-hook.ts";
import { type Hook, Hooks } from "../../agent-core/hooks/hook.ts";
import { byTurns, median, type Row } from "./measuring.ts";

const CALLS = 1_000;
const RUNS = 20;

const call = { callId: "c", tool: "terminal", input: { command: "ls" } };
const never = new AbortController().signal;

export async function measureHooks(): Promise<readonly Row[]> {
  const cwd = tmpdir();
  const passing = homeHook(
    { event: "pre_tool_call", matcher: undefined, command: "cat > /dev/null", timeoutSeconds: 10, failClosed: true },
    { cwd, home: cwd, withheld: [], trusted: () => true },
  );
  const begin = performance.now();
  for (let done = 0; done < CALLS; done += 1) await oneCall([]);
  const off = (performance.now() - begin) / CALLS;
  const { ours, floor } = await byTurns(
    RUNS,
    () => timed(() => oneCall([passing])),
    () => timed(startShell),
  );
  return [
    { what: "hooks of a call, none configured", ours: off, target: 0.1, unit: "ms" },
    { what: "a call with one hook that passes", ours: median(ours), floor: median(floor), ratio: 6, unit: "ms" },
  ];
}

async function oneCall(list: readonly Hook[]): Promise<void> {
  const hooks = new Hooks({
    hooks: () => list,
    sessionId: "s",
    cwd: tmpdir(),
    home: tmpdir(),
    report: () => undefined,
    monotonicNow: () => performance.now(),
  });
  await beforeCall(call, hooks, never);
  await afterCall(call, { ok: true, text: "done" }, { hooks, durationMs: 1 }, never);
}

async function timed(work: () => unknown): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

function startShell(): void {
  spawnSync("sh", ["-c", "cat > /dev/null"], { input: "{}" });
}
