import { expect, test } from "vitest";
import type { Message } from "../../../agent-core/messages/message.ts";
import { Conversation } from "../../../agent-core/sessions/conversation.ts";
import type { JournalEntry } from "../../../agent-core/sessions/entry.ts";

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });
const contents = (conversation: Conversation): unknown[] => conversation.messages.map(({ content }) => content);

function talk(...texts: readonly string[]): Conversation {
  const conversation = new Conversation();
  for (const [index, text] of texts.entries()) conversation.append(index % 2 === 0 ? user(text) : assistant(text));
  return conversation;
}

test("messages stand in the order they were said, and each has its position", () => {
  const conversation = new Conversation();
  expect([conversation.append(user("one")), conversation.append(assistant("two"))]).toEqual([0, 1]);
  expect(contents(conversation)).toEqual(["one", "two"]);
});

test("rewound messages are gone, and their positions are not used again", () => {
  const conversation = talk("one", "two", "three", "four");
  conversation.rewind(2);
  expect(contents(conversation)).toEqual(["one", "two"]);
  expect(conversation.append(user("other"))).toBe(4);
  expect(conversation.transcript.map(({ position }) => position)).toEqual([0, 1, 4]);
});

test("a message that a damaged journal has lost leaves its position free", () => {
  const conversation = new Conversation();
  conversation.append(user("one"), 0);
  conversation.append(assistant("three"), 2);
  conversation.rewind(2);
  expect(contents(conversation)).toEqual(["one"]);
});

test("a summary takes the position of the first message that it replaces", () => {
  const conversation = talk("a", "b", "c", "d", "e", "f");
  conversation.compress({ dropped: [[2, 4]], summary: "sum", shortened: [] });
  expect(contents(conversation)).toEqual(["a", "b", "[COMPRESSED: 3 messages summarized]\nsum\n[END COMPRESSED]", "f"]);
  expect(conversation.messages[2]).toMatchObject({ role: "user", synthetic: true });
  expect(conversation.transcript).toHaveLength(6);
});

test("messages apart from each other give way to one summary", () => {
  const conversation = talk("a", "b", "c", "d", "e", "f");
  conversation.compress({
    dropped: [
      [1, 1],
      [3, 4],
    ],
    summary: "sum",
    shortened: [],
  });
  expect(contents(conversation)).toEqual(["a", "[COMPRESSED: 3 messages summarized]\nsum\n[END COMPRESSED]", "c", "f"]);
});

test("a later compression replaces the earlier one", () => {
  const conversation = talk("a", "b", "c", "d", "e", "f");
  conversation.compress({ dropped: [[1, 2]], summary: "first", shortened: [] });
  conversation.compress({ dropped: [[1, 4]], summary: "second", shortened: [] });
  expect(contents(conversation)).toEqual(["a", "[COMPRESSED: 4 messages summarized]\nsecond\n[END COMPRESSED]", "f"]);
});

test("without a summary the dropped messages are just gone", () => {
  const conversation = talk("a", "b", "c");
  conversation.compress({ dropped: [[0, 1]], summary: null, shortened: [] });
  expect(contents(conversation)).toEqual(["c"]);
});

test("a tool result that was shortened keeps its call", () => {
  const conversation = new Conversation();
  conversation.append(user("go"));
  const position = conversation.append({ role: "tool", tool_call_id: "c1", content: "long" });
  conversation.compress({ dropped: [], summary: null, shortened: [{ position, content: "short" }] });
  expect(conversation.messages[1]).toEqual({ role: "tool", tool_call_id: "c1", content: "short" });
  expect(conversation.transcript[1]?.message.content).toBe("long");
});

test("messages after a compression are added to it", () => {
  const conversation = talk("a", "b", "c");
  conversation.compress({ dropped: [[0, 1]], summary: null, shortened: [] });
  conversation.append(assistant("d"));
  expect(contents(conversation)).toEqual(["c", "d"]);
});

test("rewinding into a summary returns the other messages that it replaced", () => {
  const conversation = talk("a", "b", "c", "d", "e", "f");
  conversation.compress({ dropped: [[1, 2]], summary: "first", shortened: [] });
  conversation.compress({ dropped: [[1, 4]], summary: "second", shortened: [] });
  conversation.rewind(4);
  expect(contents(conversation)).toEqual(["a", "[COMPRESSED: 2 messages summarized]\nfirst\n[END COMPRESSED]", "d"]);
  conversation.rewind(2);
  expect(contents(conversation)).toEqual(["a", "b"]);
});

test("undoing a rewind restores its summaries and positions, unless a message followed", () => {
  const conversation = talk("one", "two", "three", "four", "five");
  conversation.compress({ dropped: [[0, 3]], summary: "sum", shortened: [] });
  const before = contents(conversation);
  conversation.rewind(2);
  expect(conversation.unrewind()).toEqual([[2, 4]]);
  expect(contents(conversation)).toEqual(before);
  expect(conversation.unrewind()).toEqual([]);
  conversation.rewind(2);
  conversation.append(user("other"));
  expect(conversation.unrewind()).toEqual([]);
  expect(conversation.transcript.map(({ position }) => position)).toEqual([0, 1, 5]);
});

test("an answer that a compression leaves keeps its opaque parts", () => {
  const sealed: Message = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "x", arguments: "{}" }, extra: { signature: "s" } }],
    reasoning_details: [{ type: "chat.reasoning", field: "reasoning_content" }],
    origin: "deepseek",
  };
  const conversation = talk("a", "b", "c");
  conversation.append(sealed);
  conversation.compress({ dropped: [[0, 1]], summary: "sum", shortened: [] });
  expect(conversation.messages.at(-1)).toEqual(sealed);
});

test("an idle conversation holds no message that its journal has, and reads each again when it is asked", () => {
  const conversation = new Conversation();
  let reads = 0;
  const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
  for (const [position, content] of texts.entries()) {
    const message = { role: "user", content } as const;
    const read = (): JournalEntry => {
      reads += 1;
      return { type: "message", position, message, at: 0 };
    };
    conversation.append(message, position, position < 18 ? { read } : undefined);
  }
  const before = conversation.messages;
  conversation.rest();
  expect(reads).toBe(0);
  expect(conversation.messages).toEqual(before);
  expect([...conversation.messages]).toHaveLength(20);
  expect(reads).toBe(18);
});
