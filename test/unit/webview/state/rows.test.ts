import { expect, test } from "vitest";
import type { PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import { reduceAll } from "../../../../webview/state/reduce.ts";
import { emptyState } from "../../../../webview/state/state.ts";
import { finishedRows, withOpen } from "../../../../webview/state/summaries.ts";

// Rows of the conversation: what shows nothing has none, so that each row says its true place among all.
const update = (it: Extract<PanelEvent, { kind: "update" }>["update"]): PanelEvent => ({ kind: "update", update: it });
const chunk = (text: string): PanelEvent =>
  update({ sessionUpdate: "agent_message_chunk", messageId: text, content: { type: "text", text } });
const rowsAfter = (...events: readonly PanelEvent[]) => {
  const state = reduceAll(emptyState, events, 0);
  return withOpen(finishedRows(state), state);
};

test("blank answers and the keeping of the plan have no row", () => {
  const rows = rowsAfter(
    chunk(" \n"),
    update({ sessionUpdate: "tool_call", toolCallId: "plan", title: "Plan", kind: "think", status: "completed" }),
    update({ sessionUpdate: "tool_call", toolCallId: "lost", title: "Plan", kind: "think", status: "failed" }),
    update({ sessionUpdate: "tool_call", toolCallId: "read", title: "Read", kind: "read", status: "completed" }),
  );
  expect(rows.map((row) => row.type === "tool" && row.id)).toEqual(["lost", "read"]);
});

test("a change of the memory has a row, from which the user can undo it", () => {
  const title = "Remember: likes tabs";
  const call = { toolCallId: "m", name: "memory", title, kind: "think", status: "completed" } as const;
  const rows = rowsAfter(update({ sessionUpdate: "tool_call", ...call }));
  expect(rows).toMatchObject([{ type: "tool", id: "m", isMemory: true }]);
});

test("the text that grows is the last row, and is finished when no turn runs", () => {
  const prompt: PanelEvent = { kind: "prompt", id: "p", text: "go" };
  expect(rowsAfter(prompt, chunk("half")).at(-1)).toMatchObject({ type: "answer", growing: true });
  expect(rowsAfter(chunk("read back")).at(-1)).toMatchObject({ type: "answer", growing: false });
});

const call = (id: string, kind: "read" | "search" | "edit", status: "completed" | "failed" = "completed"): PanelEvent =>
  update({ sessionUpdate: "tool_call", toolCallId: id, title: id, kind, status });
const shape = (...events: readonly PanelEvent[]) =>
  rowsAfter(...events).map((row) => {
    if (row.type === "group") return row.calls.map(({ id }) => id);
    return row.type === "tool" ? row.id : row.type;
  });

test("three or more finished reads and searches in a row are one line, once something follows them", () => {
  const reads = [call("a", "read"), call("b", "search"), call("c", "read")];
  expect(shape(...reads)).toEqual(["a", "b", "c"]);
  expect(shape(...reads, call("d", "edit"))).toEqual([["a", "b", "c"], "d"]);
  expect(shape(call("a", "read"), call("b", "read"), chunk("done"))).toEqual(["a", "b", "answer"]);
});

test("a call that failed or that the user can undo is not under the line of reads", () => {
  const failed = [call("a", "read"), call("b", "read"), call("c", "read", "failed"), call("d", "read"), chunk("done")];
  expect(shape(...failed)).toEqual(["a", "b", "c", "d", "answer"]);
});

test("an opened line keeps its place above its calls", () => {
  const calls = [call("a", "read"), call("b", "read"), call("c", "read"), chunk("done")];
  const state = reduceAll(emptyState, calls, 0);
  const [group] = finishedRows(state);
  const rows = finishedRows({ ...state, openSummaries: [group?.key ?? ""] });
  expect(rows.map(({ type }) => type).slice(0, 4)).toEqual(["group", "tool", "tool", "tool"]);
});
