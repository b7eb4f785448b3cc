import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import { reduce } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";
import { wholeText } from "../../../webview/state/streamed-text.ts";
import { visibleEntries } from "../../../webview/state/summaries.ts";

const update = (it: SessionUpdate): PanelEvent => ({ kind: "update", update: it });
const user = (text: string, position: number): PanelEvent =>
  update({
    sessionUpdate: "user_message_chunk",
    content: { type: "text", text },
    _meta: { hermes: { position } },
  });
const call = (toolCallId: string): PanelEvent =>
  update({ sessionUpdate: "tool_call", toolCallId, title: toolCallId, status: "completed" });
const compression = (messages: number, first: unknown, firstKept: unknown): PanelEvent =>
  update({
    sessionUpdate: "session_info_update",
    _meta: {
      hermes: { compression: { messages, tokensBefore: 900, tokensAfter: 100, summary: "sum", first, firstKept } },
    },
  });

const play = (events: readonly PanelEvent[], state: PanelState = emptyState): PanelState =>
  events.reduce((before, event, index) => reduce(before, event, index), state);
const seen = (state: PanelState): string[] =>
  visibleEntries(state).map((entry) => {
    if (entry.type === "user") return wholeText(entry.text);
    return entry.type === "tool" ? entry.title : entry.type;
  });

const talk = [user("one", 0), call("a"), user("two", 3), call("b"), user("three", 6), call("c")];

test("compressed messages are folded under one line where they stood, and open again", () => {
  const folded = play([...talk, compression(4, { toolCallId: "a" }, { position: 6 })]);
  expect(seen(folded)).toEqual(["one", "summary", "three", "c"]);
  const key = folded.entries.find((entry) => entry.type === "summary")?.key ?? "";
  const opened = reduce(folded, { kind: "toggle-summary", key }, 0);
  expect(seen(opened)).toEqual(["one", "summary", "a", "two", "b", "three", "c"]);
  expect(seen(reduce(opened, { kind: "toggle-summary", key }, 0))).toEqual(seen(folded));
});

test("a later compression folds the earlier line away too", () => {
  const state = play([
    ...talk,
    compression(2, { toolCallId: "a" }, { position: 3 }),
    compression(5, { toolCallId: "a" }, { toolCallId: "c" }),
  ]);
  expect(seen(state)).toEqual(["one", "summary", "c"]);
});

test("messages after a compression of everything are seen", () => {
  const state = play([...talk, compression(6, { position: 0 }, null), user("four", 9), call("d")]);
  expect(seen(state)).toEqual(["summary", "four", "d"]);
});

test("a compression of nothing that is shown changes nothing", () => {
  const state = play([...talk, compression(2, { position: 6 }, { position: 3 })]);
  expect(state.entries.some((entry) => entry.type === "summary")).toBe(false);
});
