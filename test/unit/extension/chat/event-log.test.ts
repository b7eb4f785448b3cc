import { expect, test } from "vitest";
import type { EventsMessage, PanelEvent } from "../../../../agent-core/protocol/panel-events.ts";
import { EventLog } from "../../../../extension/chat/event-log.ts";
import { Channel } from "../../../../webview/channel.ts";

// Long conversations: on their way to the panel in one piece, and no longer than they must be.
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const delta = (text: string, messageId = "m"): PanelEvent => ({
  kind: "update",
  update: { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } },
});
const notice = (text: string): PanelEvent => ({ kind: "notice", severity: "info", text });

function attached(log: EventLog): readonly EventsMessage[] {
  const sent: EventsMessage[] = [];
  log.attach((message) => sent.push(message), "", 0);
  return sent;
}

test("held events go out as one message when they are released", async () => {
  const log = new EventLog();
  const sent = attached(log);
  log.hold();
  log.clear();
  for (let number = 0; number < 5; number += 1) {
    log.push(notice(String(number)));
    await settled();
  }
  expect(sent).toHaveLength(1);
  log.release();
  await settled();
  expect(sent[1]).toMatchObject({ first: 0, reset: true });
  expect(sent[1]?.events).toHaveLength(5);
});

test("a panel that comes while events are held gets them all at the release", async () => {
  const log = new EventLog();
  log.hold();
  log.push(notice("one"));
  const sent = attached(log);
  log.push(notice("two"));
  expect(sent).toEqual([]);
  log.release();
  await settled();
  expect(sent).toMatchObject([{ first: 0, reset: true, events: [{ text: "one" }, { text: "two" }] }]);
});

test("a panel that begins anew gets each text as one event, however many pieces it came in", async () => {
  const log = new EventLog();
  const first = attached(log);
  for (const letter of "abc") {
    log.push(delta(letter));
    await settled();
  }
  log.push(delta("d", "another"));
  await settled();
  expect(first).toHaveLength(5);
  expect(attached(log)).toMatchObject([
    { reset: true, events: [{ update: { content: { text: "abc" } } }, { update: { content: { text: "d" } } }] },
  ]);
});

test("after that, new events go on with the new numbers", async () => {
  const log = new EventLog();
  for (const letter of "abc") {
    attached(log);
    log.push(delta(letter, letter === "c" ? "another" : "m"));
    await settled();
  }
  const sent = attached(log);
  log.acknowledge(sent[0]?.epoch ?? "", 2);
  log.push(notice("new"));
  await settled();
  expect(sent[1]).toMatchObject({ first: 2, reset: false, events: [{ text: "new" }] });
});

test("a long list travels as one text, which the panel's end of the channel reads", () => {
  const log = new EventLog();
  for (let number = 0; number < 2_000; number += 1) log.push(notice(String(number)));
  const [message] = attached(log);
  expect(message?.events).toBeTypeOf("string");
  const taken: PanelEvent[] = [];
  const channel = new Channel(
    () => undefined,
    (events) => taken.push(...events),
  );
  if (message) channel.receive(message);
  expect(taken.map((event) => event.kind === "notice" && event.text)).toEqual(
    Array.from({ length: 2_000 }, (_, number) => String(number)),
  );
});

test("a large page of earlier messages travels as one text, a small one as it is", async () => {
  const log = new EventLog();
  const sent = attached(log);
  const update = { sessionUpdate: "tool_call", toolCallId: "t", title: "Read" } as const;
  for (const count of [10, 1_000]) {
    log.push({ kind: "earlier-page", before: 9, updates: Array.from({ length: count }, () => update), earlier: null });
    await settled();
  }
  expect(sent.slice(-2).map(({ events }) => typeof events)).toEqual(["object", "string"]);
});

test("the log keeps only the latest state of a delegation, and the other facts of its updates", () => {
  const log = new EventLog();
  const messages: EventsMessage[] = [];
  log.attach((message) => messages.push(message), "", 0);
  const state = (callId: string, step: string, more = {}): PanelEvent => ({
    kind: "update",
    update: {
      sessionUpdate: "tool_call_update",
      toolCallId: callId,
      status: "in_progress",
      _meta: { hermes: { tasks: [{ id: "a", step }], ...more } },
    },
  });
  log.push(state("d", "one", { durationMs: 1 }));
  log.push(state("e", "other"));
  log.push(state("d", "two"));
  log.push(state("d", "three"));
  log.attach((message) => messages.push(message), "unknown", 0);
  const events = messages.at(-1)?.events;
  expect(JSON.stringify(events).match(/"step":"\w+"/g)).toEqual(['"step":"other"', '"step":"three"']);
  expect(events).toHaveLength(4);
  expect(events?.[0]).toMatchObject({ update: { _meta: { hermes: { durationMs: 1 } } } });
});
