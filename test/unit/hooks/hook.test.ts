import { expect, test } from "vitest";
import { type Hook, type HookPayload, Hooks, type HookVerdict } from "../../../agent-core/hooks/hook.ts";
import type { RecordedHook } from "../../../agent-core/sessions/outcome-entries.ts";

const never = new AbortController().signal;

function hook(run: HookVerdict | Hook["run"], options: Partial<Hook> = {}): Hook {
  return {
    event: "pre_tool_call",
    label: "guard.sh",
    origin: "home",
    failClosed: false,
    timeoutMs: 1_000,
    run: typeof run === "function" ? run : () => Promise.resolve(run),
    ...options,
  };
}

function session(...hooks: Hook[]): { readonly hooks: Hooks; readonly runs: RecordedHook[] } {
  const runs: RecordedHook[] = [];
  return {
    runs,
    hooks: new Hooks({
      hooks: () => hooks,
      sessionId: "s1",
      cwd: "/project",
      home: "/home/.hermes",
      report: (run) => runs.push(run),
      monotonicNow: () => 5,
    }),
  };
}

const call = { callId: "c1", tool: "terminal", input: { command: "ls" } };

test("without a hook for the event, the event continues and nothing is reported", async () => {
  const { hooks, runs } = session(hook({ decision: "block" }, { event: "post_tool_call" }));
  expect(hooks.has("pre_tool_call")).toBe(false);
  expect(await hooks.run("pre_tool_call", call, never)).toMatchObject({ decision: "continue", reasons: [] });
  expect(runs).toEqual([]);
});

test("a hook gets the event as one JSON object", async () => {
  let seen: HookPayload | undefined;
  const { hooks } = session(
    hook((payload) => {
      seen = payload;
      return Promise.resolve({});
    }),
  );
  await hooks.run("pre_tool_call", { ...call, extra: { iteration: 1 } }, never);
  expect(seen).toEqual({
    hook_event_name: "pre_tool_call",
    tool_name: "terminal",
    tool_input: { command: "ls" },
    session_id: "s1",
    cwd: "/project",
    profile: "default",
    extra: { iteration: 1, tool_call_id: "c1" },
  });
});

test("a matcher selects the tools of a hook", async () => {
  const { hooks, runs } = session(hook({}, { matcher: (tool) => tool === "patch" }));
  await hooks.run("pre_tool_call", call, never);
  await hooks.run("pre_tool_call", { ...call, tool: "patch" }, never);
  expect(runs).toHaveLength(1);
});

test.each([
  [["block", "ask", "approve"], "block"],
  [["approve", "ask"], "ask"],
  [["approve"], "approve"],
  [[], "continue"],
] as const)("the verdicts %j give %s", async (decisions, expected) => {
  const { hooks } = session(...decisions.map((decision) => hook({ decision, reason: `because ${decision}` })));
  const merged = await hooks.run("pre_tool_call", call, never);
  expect(merged.decision).toBe(expected);
  expect(merged.reasons).toEqual(expected === "continue" ? [] : [`because ${expected}`]);
});

test.each(["workspace", "plugin"] as const)("an approval of a %s hook does not count", async (origin) => {
  const { hooks } = session(hook({ decision: "approve", context: "seen" }, { origin }));
  expect(await hooks.run("pre_tool_call", call, never)).toMatchObject({ decision: "continue", context: ["seen"] });
});

test("a changed input is passed on; two values of one argument block the call", async () => {
  const one = hook({ input: { command: "ls -l" } }, { label: "one" });
  const same = await session(one, one).hooks.run("pre_tool_call", call, never);
  expect(same).toMatchObject({ decision: "continue", input: { command: "ls -l" }, changedBy: ["one", "one"] });
  const two = hook({ input: { command: "ls -a" } }, { label: "two" });
  const different = await session(one, two).hooks.run("pre_tool_call", call, never);
  expect(different).toMatchObject({
    decision: "block",
    reasons: ['The hooks "one" and "two" change command of this call in different ways.'],
  });
  const three = hook({ input: { command: "ls", timeout: 5 } }, { label: "three" });
  const both = await session(one, three).hooks.run("pre_tool_call", call, never);
  expect(both).toMatchObject({ decision: "continue", input: { command: "ls -l", timeout: 5 } });
});

test("a failed hook is reported, and blocks only when it fails closed", async () => {
  const broken = (failClosed: boolean): Hook => hook(() => Promise.reject(new Error("exit code 127")), { failClosed });
  const open = session(broken(false));
  expect(await open.hooks.run("pre_tool_call", call, never)).toMatchObject({ decision: "continue" });
  const closed = session(broken(true));
  const reasons = ['The hook "guard.sh" failed: exit code 127'];
  expect(await closed.hooks.run("pre_tool_call", call, never)).toMatchObject({ decision: "block", reasons });
  for (const { runs } of [open, closed]) {
    expect(runs).toEqual([
      {
        event: "pre_tool_call",
        name: "guard.sh",
        callId: "c1",
        outcome: "failed",
        durationMs: 0,
        message: "exit code 127",
      },
    ]);
  }
});

test("a hook that never settles ends at its timeout", async () => {
  const { hooks, runs } = session(hook(() => new Promise(() => undefined), { timeoutMs: 5, failClosed: true }));
  expect(await hooks.run("pre_tool_call", call, never)).toMatchObject({ decision: "block" });
  expect(runs[0]?.message).toBe("no answer within 0.005 s");
});

test("a cancel ends the hooks of an event at once", async () => {
  const turn = new AbortController();
  const { hooks, runs } = session(hook(() => new Promise(() => undefined)));
  const running = hooks.run("pre_tool_call", call, turn.signal);
  turn.abort(new Error("cancelled"));
  await expect(running).rejects.toThrow("cancelled");
  expect(runs).toEqual([]);
});

test("hooks of one event run at the same time", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { hooks } = session(
    hook(() => promise.then(() => ({}))),
    hook(() => {
      resolve();
      return Promise.resolve({});
    }),
  );
  expect(await hooks.run("pre_tool_call", call, never)).toMatchObject({ decision: "continue" });
});
