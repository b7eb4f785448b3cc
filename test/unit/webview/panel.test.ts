import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { EventsMessage, PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import type { PanelMessage } from "../../../agent-core/protocol/panel-messages.ts";
import { Channel } from "../../../webview/channel.ts";
import { MarkdownStream } from "../../../webview/markdown/markdown-stream.ts";
import { createParser, linkKind } from "../../../webview/markdown/parser.ts";
import { reduce } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";
import { appendText, emptyText, wholeText } from "../../../webview/state/streamed-text.ts";
import { diffSummary } from "../../../webview/views/diff-view.tsx";
import { ansiRuns } from "../../../webview/views/terminal-view.tsx";

const update = (it: SessionUpdate): PanelEvent => ({ kind: "update", update: it });
const play = (events: readonly PanelEvent[]): PanelState =>
  events.reduce((state, event, index) => reduce(state, event, index), emptyState);

test("a turn: the prompt, the growing answer, a tool card that merges its updates, the end", () => {
  const state = play([
    { kind: "prompt", id: "p", text: "go" },
    update({ sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text: "I " } }),
    update({ sessionUpdate: "agent_message_chunk", messageId: "m", content: { type: "text", text: "will" } }),
    update({ sessionUpdate: "tool_call", toolCallId: "t", title: "Edit a.txt", kind: "edit", status: "pending" }),
    update({
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      status: "completed",
      _meta: { hermes: { durationMs: 7 } },
    }),
    { kind: "turn-end", stopReason: "max_turn_requests" },
  ]);
  expect(state.running).toBe(false);
  const [user, answer, tool, end] = state.entries;
  expect([user?.type, answer?.type === "answer" && wholeText(answer.text)]).toEqual(["user", "I will"]);
  expect(tool).toMatchObject({ type: "tool", title: "Edit a.txt", kind: "edit", status: "completed", durationMs: 7 });
  expect(end).toMatchObject({ type: "turn-end", text: "Reached the iteration limit" });
});

test("a call that the end of its turn cut off is shown as stopped", () => {
  const state = play([
    { kind: "prompt", id: "p", text: "go" },
    update({ sessionUpdate: "tool_call", toolCallId: "t", title: "x", status: "in_progress" }),
    { kind: "turn-end", stopReason: "cancelled" },
  ]);
  expect(state.entries.find((entry) => entry.type === "tool")).toMatchObject({ status: "stopped" });
});

test("the channel asks again after a gap, once, and takes nothing twice", () => {
  const posted: PanelMessage[] = [];
  const taken: PanelEvent[] = [];
  const channel = new Channel(
    (message) => posted.push(message),
    (events) => taken.push(...events),
  );
  const events = (first: number, count: number, reset = false): EventsMessage => ({
    type: "events",
    epoch: "e",
    first,
    reset,
    events: Array.from({ length: count }, (_, index) => ({
      kind: "notice",
      severity: "info",
      text: String(first + index),
    })),
  });
  channel.start();
  channel.receive(events(0, 2, true));
  channel.receive(events(1, 2));
  channel.receive(events(7, 1));
  channel.receive(events(8, 1));
  expect(taken.map((event) => event.kind === "notice" && event.text)).toEqual(["0", "1", "2"]);
  expect(posted).toEqual([
    { type: "ready", epoch: "", next: 0 },
    { type: "ready", epoch: "e", next: 3 },
  ]);
});

const SAMPLE =
  "# Title\n\nText with `code` and **bold**.\n\n- one\n- two\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.";

test("Markdown that comes in pieces ends as the whole would", () => {
  const whole = new MarkdownStream(createParser()).update(appendText(emptyText, SAMPLE), true);
  for (const size of [1, 3, 7, 50]) {
    const stream = new MarkdownStream(createParser());
    let text = emptyText;
    for (let at = 0; at < SAMPLE.length; at += size) {
      text = appendText(text, SAMPLE.slice(at, at + size));
      stream.update(text, false);
    }
    const html = (blocks: typeof whole): string => blocks.map((block) => block.html).join("");
    expect(html(stream.update(text, true))).toBe(html(whole));
  }
});

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "data:text/html,<script>",
  "command:workbench.action.terminal.new",
  "vscode://x/y",
  "//evil.example/x",
  "\\\\evil\\share",
  "file://evil/share",
  "http://",
  "java\u200bscript:x",
])("%s is no link", (href) => {
  expect(linkKind(href)).toBeUndefined();
  expect(createParser().render(`[x](<${href.replaceAll("\\", "\\\\")}>)`)).not.toContain("<a ");
});

test("web addresses and files are links, and HTML stays text", () => {
  expect(["https://example.com", "mailto:a@b.c", "src/a.ts#L3", "/project/a.ts:7"].map(linkKind)).toEqual([
    "web",
    "web",
    "file",
    "file",
  ]);
  expect(createParser().render("<img src=x onerror=alert(1)> ![i](http://x/y.png)")).not.toContain("<img");
});

test("terminal colours are kept, everything else of escape sequences goes", () => {
  expect(ansiRuns("a\u001b[1;31mred\u001b[0m\u001b]0;title\u0007\u001b[2Kb")).toEqual([
    { text: "a", classes: "" },
    { text: "red", classes: "ansi-red ansi-bold" },
    { text: "b", classes: "" },
  ]);
});

test("a diff counts its lines and leaves out what is far from any change", () => {
  const old = Array.from({ length: 40 }, (_, index) => `line ${index}`);
  const summary = diffSummary(old.join("\n"), old.with(3, "three").with(30, "thirty").join("\n"));
  expect(summary).toMatchObject({ added: 2, removed: 2 });
  expect(summary?.lines.map(({ type }) => type)).toContain("gap");
  expect(summary?.lines.length).toBeLessThan(20);
});
