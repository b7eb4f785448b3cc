import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import { reduce, reduceAll, type StateEvent } from "../../../webview/state/reduce.ts";
import { emptyState, type PanelState } from "../../../webview/state/state.ts";
import { wholeText } from "../../../webview/state/streamed-text.ts";
import { hidesNextPage, thoughtId, visibleEntries } from "../../../webview/state/summaries.ts";
import { sessionEvent } from "./support/session-event.ts";

const event = (update: SessionUpdate): PanelEvent => ({ kind: "update", update });
const info = (hermes: unknown): SessionUpdate => ({ sessionUpdate: "session_info_update", _meta: { hermes } });
const user = (text: string, position: number): SessionUpdate => ({
  sessionUpdate: "user_message_chunk",
  content: { type: "text", text },
  _meta: { hermes: { position } },
});
const call = (toolCallId: string): SessionUpdate => ({
  sessionUpdate: "tool_call",
  toolCallId,
  title: toolCallId,
  status: "completed",
});
const thought = (text: string): SessionUpdate => ({
  sessionUpdate: "agent_thought_chunk",
  content: { type: "text", text },
});
const compression = (first: unknown, firstKept: unknown): SessionUpdate =>
  info({ compression: { messages: 4, tokensBefore: 900, tokensAfter: 100, summary: "sum", first, firstKept } });
const earlier = (before: number): SessionUpdate => info({ earlier: { before, messages: before } });
/** Turns of two: a question and a call, which is called as the question is. */
const turns = (from: number, to: number): readonly SessionUpdate[] =>
  Array.from({ length: (to - from) / 2 }, (_, index) => {
    const position = from + index * 2;
    return [user(`q${position}`, position), call(`c${position}`)];
  }).flat();
const page = (before: number, from: number): PanelEvent => ({
  kind: "earlier-page",
  before,
  updates: turns(from, before),
  earlier: from === 0 ? null : { before: from, messages: from },
});

const play = (events: readonly StateEvent[], state: PanelState = emptyState): PanelState =>
  events.reduce((before, next, index) => reduce(before, next, index), state);
/** A session that was opened by its end: the turns from position 20 to 29 are there. */
const opened = (...more: readonly SessionUpdate[]): PanelState =>
  play([earlier(20), ...turns(20, 30), ...more].map(event));
const seen = (state: PanelState): string[] =>
  visibleEntries(state).map((entry) => {
    if (entry.type === "user") return wholeText(entry.text);
    return entry.type === "tool" ? entry.title : entry.type;
  });
const names = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `${index % 2 === 0 ? "q" : "c"}${from + index - (index % 2)}`);
const keys = (state: PanelState): string[] => state.entries.map(({ key }) => key);

test("pages are put before what is there, which keeps its keys, until nothing is earlier", () => {
  const tail = opened();
  expect(tail.earlier).toEqual({ type: "available", before: 20, messages: 20 });
  const asked = reduce(tail, { kind: "earlier-asked", before: 20 }, 0);
  expect(asked.earlier).toEqual({ type: "loading", before: 20, messages: 20 });
  const one = reduce(asked, page(20, 10), 0);
  expect(one.earlier).toEqual({ type: "available", before: 10, messages: 10 });
  expect(keys(one).slice(10)).toEqual(keys(tail));
  const all = reduce(one, page(10, 0), 0);
  expect(all.earlier).toEqual({ type: "none-left" });
  expect(seen(all)).toEqual(names(0, 30));
  expect(new Set(keys(all)).size).toBe(30);
});

test("entries keep their keys when they are shown again", () => {
  const events: readonly PanelEvent[] = [
    ...[earlier(20), ...turns(20, 30)].map(event),
    { kind: "prompt", id: "p", text: "more" },
    page(20, 10),
    event(call("live")),
    { kind: "turn-end", stopReason: "end_turn" },
  ];
  expect(reduceAll(emptyState, events, 5)).toEqual(
    events.reduce((before, next) => reduce(before, next, 5), emptyState),
  );
});

test("a page that comes while an answer grows leaves the answer at the end", () => {
  const grows = play([{ kind: "prompt", id: "p", text: "more" }, event(call("a")), event(thought("hm"))], opened());
  const state = reduce(grows, page(20, 10), 0);
  expect(seen(state).slice(-2)).toEqual(["more", "a"]);
  expect(state.open?.key).toBe(grows.open?.key);
  expect(state.running).toBe(true);
});

test("a page that failed says why and can be asked for again", () => {
  const failed = play(
    [
      { kind: "earlier-asked", before: 20 },
      { kind: "earlier-failed", before: 20, message: "the agent is gone" },
    ],
    opened(),
  );
  expect(failed.earlier).toEqual({ type: "failed", before: 20, messages: 20, problem: "the agent is gone" });
  expect(failed.announcement.text).toContain("the agent is gone");
  expect(play([{ kind: "earlier-asked", before: 20 }, page(20, 0)], failed).earlier).toEqual({ type: "none-left" });
});

test("messages that were taken back while a page was on its way do not come with it", () => {
  const asked = reduce(opened(), { kind: "earlier-asked", before: 20 }, 0);
  const back = reduce(asked, { kind: "rewind", position: 14 }, 0);
  expect(seen(back)).toEqual([]);
  expect(back.earlier).toEqual({ type: "available", before: 14, messages: 14 });
  const stale = reduce(back, page(20, 10), 0);
  expect(stale).toBe(back);
  expect(reduce(back, { kind: "earlier-failed", before: 20, message: "late" }, 0)).toBe(back);
  expect(seen(reduce(stale, page(14, 0), 0))).toEqual(names(0, 14));
});

test("with the very first message all is taken back, and nothing is earlier", () => {
  const state = reduce(opened(), { kind: "rewind", position: 0 }, 0);
  expect([state.entries, state.earlier]).toEqual([[], { type: "none-left" }]);
});

test("a new session, or the same one opened again, knows nothing of earlier messages", () => {
  expect(reduce(opened(), sessionEvent("s"), 0).earlier).toBe(undefined);
});

test("the line over compressed messages stands first until they have all come", () => {
  const state = opened(compression({ toolCallId: "c0" }, { position: 26 }));
  expect(seen(state)).toEqual(["summary", ...names(26, 30)]);
  expect(hidesNextPage(state)).toBe(true);
  const key = state.cutSummary?.key ?? "";
  const open = reduce(state, { kind: "toggle-summary", key }, 0);
  expect(hidesNextPage(open)).toBe(false);
  expect(seen(open)).toEqual(["summary", ...names(20, 30)]);
  const one = reduce(open, page(20, 10), 0);
  expect(seen(one)).toEqual(["summary", ...names(10, 30)]);
  const all = reduce(one, page(10, 0), 0);
  expect(seen(all)).toEqual(["q0", "summary", ...names(0, 30).slice(1)]);
  expect(all.cutSummary).toBe(undefined);
  expect(seen(reduce(all, { kind: "toggle-summary", key }, 0))).toEqual(["q0", "summary", ...names(26, 30)]);
});

test("a line whose messages are all earlier comes with them", () => {
  const state = opened(compression({ toolCallId: "c0" }, { position: 14 }));
  expect(seen(state)).toEqual(names(20, 30));
  expect(hidesNextPage(state)).toBe(false);
  const one = reduce(state, page(20, 10), 0);
  expect(seen(one)).toEqual(["summary", ...names(14, 30)]);
  expect(seen(reduce(one, page(10, 0), 0))).toEqual(["q0", "summary", ...names(14, 30)]);
});

test("a compression of everything leaves what is said later to be seen when pages come", () => {
  const state = play([event(compression({ position: 0 }, null)), event(user("new", 30)), event(call("d"))], opened());
  expect(seen(state)).toEqual(["summary", "new", "d"]);
  expect(seen(play([page(20, 10), page(10, 0)], state))).toEqual(["summary", "new", "d"]);
});

test("a later compression replaces the line that was not whole yet", () => {
  const state = opened(
    compression({ toolCallId: "c0" }, { position: 22 }),
    compression({ toolCallId: "c0" }, { position: 26 }),
  );
  expect(seen(state)).toEqual(["summary", ...names(26, 30)]);
  expect(seen(play([page(20, 0)], state))).toEqual(["q0", "summary", ...names(26, 30)]);
});

test("a compression that was taken back with its messages leaves no line", () => {
  const state = opened(compression({ toolCallId: "c0" }, { position: 26 }));
  const within = reduce(state, { kind: "rewind", position: 24 }, 0);
  expect(seen(within)).toEqual(names(20, 24));
  expect(seen(reduce(within, page(20, 0), 0))).toEqual(names(0, 24));
  const beyond = reduce(state, { kind: "rewind", position: 10 }, 0);
  expect(seen(reduce(beyond, page(10, 0), 0))).toEqual(names(0, 10));
});

test("taken back to where a compression ends, its line stays and what is said next is seen", () => {
  const state = opened(compression({ toolCallId: "c0" }, { position: 26 }));
  const back = play([{ kind: "rewind", position: 26 }, event(user("other", 30))], state);
  const sealed = reduce(back, { kind: "notice", severity: "info", text: "n" }, 0);
  expect(seen(sealed)).toEqual(["summary", "other", "notice"]);
  expect(seen(play([page(20, 0)], sealed))).toEqual(["q0", "summary", "other", "notice"]);
});

test("a compression that is earlier and was taken back leaves no line when all has come", () => {
  const state = opened(compression({ toolCallId: "c0" }, { position: 14 }));
  const back = reduce(state, { kind: "rewind", position: 10 }, 0);
  expect(seen(reduce(back, page(10, 0), 0))).toEqual(names(0, 10));
});

test("a thought has the same name however much of its session is there", () => {
  const turn = [user("q", 20), thought("a"), call("x"), thought("b"), call("y")];
  const name = (state: PanelState): (string | undefined)[] =>
    state.entries.filter(({ type }) => type === "thought").map(({ key }) => thoughtId(state.entries, key));
  const short = play([earlier(20), ...turn].map(event));
  const long = play([...turns(0, 20), ...turn].map(event));
  expect(name(short)).toEqual(["20.0", "20.1"]);
  expect(name(long)).toEqual(name(short));
  expect(thoughtId(short.entries, "still growing")).toBe("20.2");
  expect(thoughtId([], "e0")).toBe(undefined);
});
