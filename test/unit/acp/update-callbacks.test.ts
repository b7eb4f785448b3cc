import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ToolCallUpdates } from "../../../agent-core/acp/update-callbacks.ts";

const started = {
  type: "started",
  callId: "c1",
  name: "read_file",
  title: "Read a.txt",
  kind: "read",
  locations: [{ path: "/w/a.txt" }],
  input: { path: "a.txt" },
} as const;

let sent: SessionUpdate[] = [];
let updates = new ToolCallUpdates((update) => sent.push(update));

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  updates = new ToolCallUpdates((update) => sent.push(update));
});

afterEach(() => {
  vi.useRealTimers();
});

test("a call is sent once its arguments are complete", () => {
  updates.announce({ callId: "c1", name: "read_file", kind: "read" });
  expect(sent).toEqual([]);
  updates.progress(started);
  vi.runAllTimers();
  expect(sent).toMatchObject([{ sessionUpdate: "tool_call", title: "Read a.txt", status: "pending" }]);
});

test("a call whose arguments take long is sent before them, with its name as title", () => {
  updates.announce({ callId: "c1", name: "read_file", kind: "read" });
  vi.runAllTimers();
  updates.progress(started);
  expect(sent).toMatchObject([
    { sessionUpdate: "tool_call", title: "Read file", kind: "read", status: "pending" },
    { sessionUpdate: "tool_call_update", title: "Read a.txt", locations: [{ path: "/w/a.txt" }], status: "pending" },
  ]);
});

test("a call that is dropped before it was sent is never sent, and one that was sent fails at the turn's end", () => {
  updates.announce({ callId: "c1", name: "read_file", kind: "read" });
  updates.progress({ type: "dropped", callId: "c1" });
  updates.announce({ callId: "c2", name: "read_file", kind: "read" });
  updates.endTurn();
  vi.runAllTimers();
  expect(sent).toEqual([]);
  updates.beginTurn();
  updates.progress(started);
  updates.endTurn();
  expect(sent.at(-1)).toEqual({ sessionUpdate: "tool_call_update", toolCallId: "c1", status: "failed" });
});

test("a finished edit has a diff again only if the user's review changed it", () => {
  const diffs = [{ path: "/w/a.txt", oldText: "a", newText: "b" }];
  const run = (newText: string): void => {
    updates.progress(started);
    updates.progress({ type: "running", callId: "c1", diffs });
    const result = { ok: true, text: "Edited.", diffs: [{ path: "/w/a.txt", oldText: "a", newText }] };
    updates.progress({ type: "finished", callId: "c1", name: "patch", result, durationMs: 3.2 });
  };
  run("b");
  expect(sent.at(-1)).toEqual({
    sessionUpdate: "tool_call_update",
    toolCallId: "c1",
    status: "completed",
    rawOutput: { text: "Edited." },
    _meta: { hermes: { durationMs: 3 } },
  });
  run("c");
  expect(sent.at(-1)).toMatchObject({ status: "completed", content: [{ type: "diff", newText: "c" }] });
});

test("an event of a call after its end, or after its turn, opens no call", () => {
  const result = { ok: false, text: "cancelled" };
  const late = [
    { type: "activity", callId: "c1", activity: { type: "output", text: "more" } },
    { type: "activity", callId: "c1", activity: { type: "terminal", terminalId: "t" } },
    { type: "activity", callId: "c1", activity: { type: "delegation", tasks: [] } },
    { type: "running", callId: "c1", diffs: [] },
    { ...started, callId: "c1/1", parentCallId: "c1" },
    { type: "finished", callId: "c1/1", name: "read_file", result, durationMs: 1 },
  ] as const;
  updates.progress(started);
  updates.progress({ type: "finished", callId: "c1", name: "terminal", result, durationMs: 1 });
  const seen = sent.length;
  for (const event of late) updates.progress(event);
  updates.endTurn();
  for (const event of [started, ...late]) updates.progress(event);
  updates.announce({ callId: "c2", name: "read_file", kind: "read" });
  vi.runAllTimers();
  expect(sent.slice(seen)).toEqual([]);
  updates.beginTurn();
  updates.progress(started);
  expect(sent.at(-1)).toMatchObject({ sessionUpdate: "tool_call", toolCallId: "c1" });
});
