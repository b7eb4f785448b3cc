import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import { checkedRecord } from "../../../agent-core/protocol/update-meta.ts";
import { reduce, reduceAll, type StateEvent } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";
import { isUndone } from "../../../webview/state/tool-calls.ts";

const play = (...updates: readonly SessionUpdate[]): PanelState =>
  updates.reduce((state, update) => reduce(state, { kind: "update", update: checkedRecord(update) }, 0), emptyState);
const said: SessionUpdate = {
  sessionUpdate: "user_message_chunk",
  content: { type: "text", text: "one" },
  _meta: { hermes: { position: 0 } },
};
const compression = { messages: 2, tokensBefore: 900, tokensAfter: 100, summary: "sum", first: null, firstKept: null };

test.each([
  ["no object", { hermes: "hello" }],
  ["nothing", { hermes: null }],
  ["a position that is no number", { hermes: { position: "0" } }],
  ["earlier messages without a count", { hermes: { earlier: { before: 20 } } }],
  ["messages taken back from nowhere", { hermes: { rewound: { prompt: "one" } } }],
  ["a compression of another kind", { hermes: { compression: true } }],
  ["a compression without its counts", { hermes: { compression: { ...compression, messages: undefined } } }],
  ["a compression that begins at something else", { hermes: { compression: { ...compression, first: { row: 1 } } } }],
])("data of another agent under our name changes nothing: %s", (_, meta) => {
  const update: SessionUpdate = { sessionUpdate: "session_info_update", _meta: meta };
  expect(play(said, update)).toEqual(play(said));
});

test("a compression of ours folds what it says", () => {
  const update: SessionUpdate = { sessionUpdate: "session_info_update", _meta: { hermes: { compression } } };
  expect(play(said, update).entries).toMatchObject([
    { type: "summary", messages: 2, summary: "sum" },
    { type: "user" },
  ]);
});

test.each([
  [{ problems: "many" }, {}],
  [{ problems: [{ path: "/w/a.ts", line: "3", severity: "error", text: "no" }], hookText: true }, { hookText: true }],
  [{ problems: [{ path: "/w/a.ts", line: 3, severity: "error", text: "no" }], seq: 4 }, undefined],
])("the content of a call keeps only valid fields of ours: %j", (hermes, left) => {
  const content = { type: "content" as const, content: { type: "text" as const, text: "t" }, _meta: { hermes } };
  const { problems } = hermes;
  expect(checkedRecord({ toolCallId: "c", content: [content] })).toEqual({
    toolCallId: "c",
    content: [{ ...content, _meta: { hermes: left ?? { problems } } }],
  });
});

test("a tool's time that it says itself counts; one that is none does not", () => {
  const ended = (durationMs: unknown): PanelState =>
    play(
      { sessionUpdate: "tool_call", toolCallId: "c", title: "c", status: "in_progress" },
      { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed", _meta: { hermes: { durationMs } } },
    );
  expect(ended(250).entries).toMatchObject([{ durationMs: 250 }]);
  expect(ended(-1).entries).toMatchObject([{ durationMs: undefined }]);
});

test("a call is rejected when its end says so", () => {
  const ended = (rejected: unknown): PanelState =>
    play({
      sessionUpdate: "tool_call",
      toolCallId: "c",
      title: "c",
      status: "failed",
      _meta: { hermes: { rejected } },
    });
  expect(ended(true).entries).toMatchObject([{ isRejected: true }]);
  expect(ended(undefined).entries).toMatchObject([{ isRejected: false }]);
});

test.each([
  [{ hermes: { contextPressure: "high" } }, "high"],
  [{ hermes: { contextPressure: "full" } }, "full"],
  [{ hermes: { contextPressure: "bursting" } }, "low"],
  [undefined, "low"],
])("a window with %j says %s", (meta, pressure) => {
  const update: SessionUpdate = { sessionUpdate: "usage_update", used: 7, size: 10, ...(meta && { _meta: meta }) };
  expect(play(update).usage).toEqual({ used: 7, size: 10, cost: undefined, pressure });
});

test("the waits of one call are one line, and other entries start another", () => {
  const wait = (id: string, waitedMs: number): SessionUpdate => ({
    sessionUpdate: "notice",
    severity: "info",
    title: `waited ${waitedMs}`,
    _meta: { hermes: { retry: { id, reason: "busy.", delayMs: 4_000, waitedMs } } },
  });
  const answer: SessionUpdate = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hm" } };
  const { entries } = play(wait("a", 0), wait("a", 4_000), wait("b", 0), answer, wait("b", 4_000));
  expect(entries.map((entry) => (entry.type === "notice" ? [entry.text, entry.retry?.until] : entry.type))).toEqual([
    ["waited 4000", 4_000],
    ["waited 0", 4_000],
    "answer",
    ["waited 4000", 4_000],
  ]);
  expect(new Set(entries.map(({ key }) => key)).size).toBe(4);
  const other = {
    sessionUpdate: "notice",
    severity: "info",
    title: "t",
    _meta: { hermes: { retry: { id: 1 } } },
  } as const;
  expect(play(other).entries).toMatchObject([{ type: "notice", text: "t" }]);
});

test("a notice about the memory names the call that can be undone, and an undo is remembered", () => {
  const notice = { sessionUpdate: "notice", severity: "info", title: "Memory review · Remember: likes tabs" } as const;
  const state = play({ ...notice, _meta: { hermes: { memoryCall: "c1" } } });
  expect(state.entries).toMatchObject([{ type: "notice", memoryCall: "c1" }]);
  expect(play({ ...notice, _meta: { hermes: { memoryCall: 1 } } }).entries[0]).not.toHaveProperty("memoryCall");
  const undone = { sessionUpdate: "session_info_update", _meta: { hermes: { undoneCalls: ["c1"] } } } as const;
  expect(reduce(state, { kind: "update", update: undone }, 0).undoneMemory).toEqual(["c1"]);
});

test("a decision about edits marks the cards that it is about, and no later decision changes earlier ones", () => {
  const edits = (...paths: readonly string[]) =>
    paths.map((path) => ({ type: "diff" as const, path, oldText: "a", newText: "b" }));
  const call = (toolCallId: string, ...paths: readonly string[]): StateEvent => ({
    kind: "update",
    update: { sessionUpdate: "tool_call", toolCallId, title: "", status: "completed", content: edits(...paths) },
  });
  const decide = (outcome: "kept" | "undone" | "redone", path: string): StateEvent => ({
    kind: "reviewed",
    path,
    outcome,
  });
  const marks = (...events: readonly StateEvent[]) =>
    reduceAll(emptyState, events, 0).entries.map((entry) => entry.type === "tool" && isUndone(entry));
  const both = [call("c1", "/w/a"), call("c2", "/w/a", "/w/b")];
  expect(marks(...both, decide("undone", "/w/a"))).toEqual([true, false]);
  const undone = [...both, decide("undone", "/w/b"), decide("undone", "/w/a")];
  expect(marks(...undone)).toEqual([true, true]);
  expect(marks(...undone, decide("redone", "/w/a"))).toEqual([false, false]);
  const again = [...undone, call("c3", "/w/a"), decide("undone", "/w/a"), decide("redone", "/w/a")];
  expect(marks(...again)).toEqual([true, true, false]);
  expect(marks(call("c1", "/w/a"), decide("kept", "/w/a"), decide("undone", "/w/a"))).toEqual([false]);
});
