import { expect, test } from "vitest";
import type { PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import { reduce } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";
import { wholeText } from "../../../webview/state/streamed-text.ts";

const after = (state: PanelState, ...events: readonly PanelEvent[]): PanelState =>
  events.reduce((before, event) => reduce(before, event, 0), state);

const said = (text: string, position: number): PanelEvent => ({
  kind: "update",
  update: {
    sessionUpdate: "user_message_chunk",
    messageId: text,
    content: { type: "text", text },
    _meta: { hermes: { position } },
  },
});
const rewound = (position: number, prompt: string): PanelEvent => ({
  kind: "update",
  update: { sessionUpdate: "session_info_update", _meta: { hermes: { rewound: { position, prompt } } } },
});
const prompts = ({ entries }: PanelState): string[] =>
  entries.flatMap((entry) => (entry.type === "user" ? [wholeText(entry.text)] : []));

const conversation = after(emptyState, said("one", 0), said("two", 4), said("three", 8));

test("messages that are taken back leave the panel", () => {
  const state = after(conversation, rewound(4, "two"));
  expect(prompts(state)).toEqual(["one"]);
});

test("one card at a time, taken away by its own message only", () => {
  const preview = { files: [], messages: 2 };
  const open = after(conversation, { kind: "restore-preview", position: 4, preview });
  expect(after(open, { kind: "restore-preview", position: 0, preview: null }).restore?.position).toBe(4);
  expect(after(open, { kind: "restore-preview", position: 4, preview: null }).restore).toBeUndefined();
  expect(after(open, { kind: "prompt", id: "p", text: "go on" }).restore).toBeUndefined();
});

test("a restore leaves a line that says what it did and left alone; only the last can be undone", () => {
  const file = { path: "/w/a.txt", label: "a.txt", change: "restore" as const };
  const left = { ...file, label: "b.txt", leftAlone: "you changed it since" };
  const first: PanelEvent = {
    kind: "restored",
    files: [file, left],
    isUndo: false,
    hasConversation: false,
    restoreId: "r1",
  };
  const second: PanelEvent = { kind: "restored", files: [file], isUndo: true, hasConversation: true, restoreId: "r2" };
  const state = after(conversation, first);
  expect(state.entries.at(-1)).toMatchObject({ text: "Restored 1 file", leftAlone: [left], restoreId: "r1" });
  expect(state.announcement.text).toBe("Restored 1 file, 1 file skipped");
  const undone = after(state, second).entries.filter((entry) => entry.type === "restored");
  expect(undone.map(({ text, restoreId }) => [text, restoreId])).toEqual([
    ["Restored 1 file", undefined],
    ["Undid the restore of 1 file and the conversation", "r2"],
  ]);
});
