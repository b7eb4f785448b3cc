import { expect, test } from "vitest";
import type { PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import { findIn, hitAt, hitNear, numberOf } from "../../../../webview/state/find.ts";
import { reduceAll } from "../../../../webview/state/reduce.ts";
import { emptyState } from "../../../../webview/state/state.ts";
import { summariesOver } from "../../../../webview/state/summaries.ts";

// The search of a conversation reads the state, because most rows are not in the page.
type Update = Extract<PanelEvent, { kind: "update" }>["update"];
const update = (it: Update): PanelEvent => ({ kind: "update", update: it });
const said = (sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk", text: string) =>
  update({ sessionUpdate, messageId: `${sessionUpdate}${text}`, content: { type: "text", text } });
const answer = (text: string) => said("agent_message_chunk", text);
const stateAfter = (...events: readonly PanelEvent[]) => reduceAll(emptyState, events, 0);
const totalIn = (query: string, ...events: readonly PanelEvent[]) => findIn(stateAfter(...events), query).total;

test("messages, answers and thoughts are found, whatever the case", () => {
  const state = stateAfter(
    said("user_message_chunk", "Where is the Parser?"),
    said("agent_thought_chunk", "parser, PARSER"),
    answer("No such thing."),
    answer("The parser is here"),
  );
  expect(findIn(state, "pArSer")).toEqual({
    entries: [
      { key: "e0", before: 0, count: 1 },
      { key: "e1", before: 1, count: 2 },
      { key: "e3", before: 3, count: 1 },
    ],
    total: 4,
  });
  expect(findIn(state, "").total).toBe(0);
});

test("a tool call is found by its title, its text, its changed lines and the end of its output", () => {
  const call = update({
    sessionUpdate: "tool_call",
    toolCallId: "c",
    title: "Edit wanted.ts",
    kind: "edit",
    status: "completed",
    content: [
      { type: "content", content: { type: "text", text: "wanted" } },
      { type: "diff", path: "/a.ts", oldText: "same wanted\nold", newText: "same wanted\nnew wanted" },
      { type: "terminal", terminalId: "t" },
    ],
  });
  const output: PanelEvent = { kind: "terminal-output", terminalId: "t", text: "\u001b[31mwan\u001b[0mted\r\n" };
  expect(totalIn("wanted", call, output)).toBe(4);
});

test("an answer is found as it is shown, without the marks of Markdown", () => {
  const text =
    "## A **bold** word, `co*de*`, [the guide](https://example.com)\n```ts\nconst a = 2 ** 3;\n```\nthe *end*\nof it";
  for (const shown of ["a bold word, co*de*, the guide", "const a = 2 ** 3;", "the end of it"]) {
    expect(totalIn(shown, answer(text)), shown).toBe(1);
  }
  for (const hidden of ["##", "example.com", "```"]) expect(totalIn(hidden, answer(text)), hidden).toBe(0);
});

test.each(["[", "[a](", "[a](b(", "![", "`", "~", "*a ", "```\n"])("a long text of %j is searched at once", (mark) => {
  expect(totalIn("wanted", answer(`${mark.repeat(100_000)}\n\nwanted`))).toBe(1);
});

test("a link is found by its text, whatever its address contains", () => {
  const text = "see [the page](https://example.com/a_(b)) and ![a picture](c.png), [x [y](z.ts)";
  expect(totalIn("see the page and a picture, [x y", answer(text))).toBe(1);
});

test("a hit has a number, and the steps go round", () => {
  const found = findIn(stateAfter(answer("a a"), answer("b"), answer("a")), "a");
  expect([1, 2, 3, 4, 0].map((number) => hitAt(found, number))).toEqual([
    { key: "e0", nth: 0 },
    { key: "e0", nth: 1 },
    { key: "e2", nth: 0 },
    { key: "e0", nth: 0 },
    { key: "e2", nth: 0 },
  ]);
  expect(numberOf(found, { key: "e2", nth: 0 })).toBe(3);
  expect(numberOf(found, { key: "e1", nth: 0 })).toBeUndefined();
  expect(hitNear(found, ["e0", "e1", "e2"], "e1")).toEqual({ key: "e2", nth: 0 });
  expect(hitAt(findIn(emptyState, "a"), 1)).toBeUndefined();
});

test("a message under a folded summary names the summary", () => {
  const state = stateAfter(answer("one"), answer("two"));
  const line = {
    type: "summary",
    key: "s",
    messages: 1,
    tokensBefore: 9,
    tokensAfter: 1,
    summary: "",
    until: "e1",
  } as const;
  const { open } = state;
  const entries = [line, ...state.entries, ...(open === undefined ? [] : [open])];
  const folded = { ...state, open: undefined, entries };
  expect(summariesOver(folded, "e0")).toEqual(["s"]);
  expect(summariesOver(folded, "e1")).toEqual([]);
  expect(summariesOver({ ...folded, openSummaries: ["s"] }, "e0")).toEqual([]);
});
