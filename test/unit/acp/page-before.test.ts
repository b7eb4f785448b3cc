import { expect, test } from "vitest";
import { pageBefore } from "../../../agent-core/acp/replay.ts";
import type { Message } from "../../../agent-core/messages/message.ts";
import { Conversation } from "../../../agent-core/sessions/conversation.ts";

const user = (content: string): Message => ({ role: "user", content });
const answer = (content: string): Message => ({ role: "assistant", content });
const calls = (...ids: readonly string[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "read_file", arguments: "{}" } })),
});
const result = (id: string): Message => ({ role: "tool", tool_call_id: id, content: "done" });

function talk(messages: readonly Message[]): Conversation {
  const conversation = new Conversation();
  for (const message of messages) conversation.append(message);
  return conversation;
}

/** Turns of four: 0 to 3, 4 to 7, and so on. */
const turns = (count: number): Conversation =>
  talk(
    Array.from({ length: count }, (_, turn) => [
      user(`question ${turn}`),
      calls(`call-${turn}`),
      result(`call-${turn}`),
      answer(`answer ${turn}`),
    ]).flat(),
  );

const END = Number.MAX_SAFE_INTEGER;

const positions = (page: ReturnType<typeof pageBefore>): number[] => page.page.map(({ position }) => position);

test("an empty session is one page without earlier ones", () => {
  expect(pageBefore(new Conversation().transcript, END, 10)).toEqual({ page: [], earlier: null });
});

test("a session that is no longer than its tail is one page", () => {
  const { transcript } = turns(2);
  for (const messages of [8, 9, undefined]) {
    const page = pageBefore(transcript, END, messages);
    expect([positions(page).length, page.earlier]).toEqual([8, null]);
  }
});

test("a page has as few whole turns as the request needs, and counts the earlier messages", () => {
  const { transcript } = turns(5);
  const page = pageBefore(transcript, END, 5);
  expect(positions(page)).toEqual([12, 13, 14, 15, 16, 17, 18, 19]);
  expect(page.earlier).toEqual({ before: 12, messages: 6 });
  expect(pageBefore(transcript, END, 1).earlier).toEqual({ before: 16, messages: 8 });
});

test("pages follow each other without a gap up to the first message", () => {
  const { transcript } = turns(25);
  const pages: number[][] = [];
  let before: number | undefined = END;
  while (before !== undefined) {
    const page = pageBefore(transcript, before, 30);
    pages.unshift(positions(page));
    before = page.earlier?.before;
  }
  expect(pages.length).toBe(4);
  expect(pages.flat()).toEqual(transcript.map(({ position }) => position));
});

test("a very long turn is split between two steps, never between a call and its result", () => {
  const steps = Array.from({ length: 200 }, (_, step) => [
    calls(`a${step}`, `b${step}`),
    result(`a${step}`),
    result(`b${step}`),
  ]);
  const { transcript } = talk([user("first"), answer("yes"), user("long"), ...steps.flat()]);
  const page = pageBefore(transcript, END, 10);
  expect(page.page[0]?.role).toBe("assistant");
  expect(page.page.length).toBe(12);
  expect(page.earlier?.messages).toBe(3);
});

test("a message sent during a turn begins no page", () => {
  const { transcript } = talk([
    user("one"),
    calls("a"),
    result("a"),
    user("and this"),
    calls("b"),
    result("b"),
    answer("ok"),
  ]);
  expect(positions(pageBefore(transcript, END, 4))).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test("a page up to the middle of a tool call contains its results", () => {
  const { transcript } = turns(3);
  expect(positions(pageBefore(transcript, 6, 2))).toEqual([4, 5, 6]);
});

test("a rewound position leads to the messages before it", () => {
  const conversation = turns(5);
  conversation.rewind(8);
  const page = pageBefore(conversation.transcript, 12, 4);
  expect(positions(page)).toEqual([4, 5, 6, 7]);
  expect(page.earlier).toEqual({ before: 4, messages: 2 });
  conversation.rewind(0);
  expect(pageBefore(conversation.transcript, 12, 4)).toEqual({ page: [], earlier: null });
});

test("a message without visible content is no page of its own", () => {
  const { transcript } = talk([{ role: "system", content: "be kind" }, user("one"), answer("two")]);
  expect(pageBefore(transcript, END, 2)).toMatchObject({ page: { length: 3 }, earlier: null });
});
