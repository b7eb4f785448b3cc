import { expect, test } from "vitest";
import type { Message, ToolCall } from "../../../agent-core/messages/message.ts";
import { repairMessages } from "../../../agent-core/messages/repair.ts";

const call = (id: string): ToolCall => ({ id, type: "function", function: { name: "read_file", arguments: "{}" } });
const result = (id: string, content = `result of ${id}`): Message => ({ role: "tool", tool_call_id: id, content });

test("a valid history keeps its very messages", () => {
  const history: Message[] = [
    { role: "system", content: "be good" },
    { role: "user", content: "hello" },
    { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
    result("a"),
    result("b"),
    { role: "assistant", content: "done" },
  ];
  const repaired = repairMessages(history);
  expect(repaired).toEqual(history);
  for (const [index, message] of repaired.entries()) expect(message).toBe(history[index]);
});

test("the repair merges users that follow each other", () => {
  expect(
    repairMessages([
      { role: "user", content: "one" },
      { role: "user", content: "two" },
    ]),
  ).toEqual([{ role: "user", content: "one\n\ntwo" }]);
});

test("the repair merges users with images part by part", () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } } as const;
  expect(
    repairMessages([
      { role: "user", content: [image] },
      { role: "user", content: "what is this?" },
    ]),
  ).toEqual([{ role: "user", content: [image, { type: "text", text: "what is this?" }] }]);
});

test("the repair merges assistants that follow each other and keeps the calls of the second", () => {
  expect(
    repairMessages([
      { role: "user", content: "go" },
      { role: "assistant", content: "first", reasoning: "r1" },
      { role: "assistant", content: "second", reasoning: "r2", tool_calls: [call("a")] },
      result("a"),
    ]),
  ).toEqual([
    { role: "user", content: "go" },
    { role: "assistant", content: "first\n\nsecond", reasoning: "r1\n\nr2", tool_calls: [call("a")] },
    result("a"),
  ]);
});

test("the repair adds the result of a call that never ended", () => {
  const repaired = repairMessages([
    { role: "user", content: "go" },
    { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
    result("b"),
    { role: "user", content: "and?" },
  ]);
  expect(repaired.map((message) => message.role)).toEqual(["user", "assistant", "tool", "tool", "user"]);
  expect(repaired[2]).toMatchObject({ tool_call_id: "a", content: expect.stringContaining("interrupted") });
  expect(repaired[3]).toMatchObject({ tool_call_id: "b", content: "result of b" });
});

test("the repair drops results without a call, and second results of the same call", () => {
  expect(
    repairMessages([
      { role: "user", content: "go" },
      result("ghost"),
      { role: "assistant", content: null, tool_calls: [call("a")] },
      result("a", "first"),
      result("a", "second"),
    ]),
  ).toEqual([
    { role: "user", content: "go" },
    { role: "assistant", content: null, tool_calls: [call("a")] },
    result("a", "first"),
  ]);
});

test("the repair drops a second call that reuses an id, and an empty answer", () => {
  expect(
    repairMessages([
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [call("a")] },
      result("a"),
      { role: "assistant", content: null, tool_calls: [call("a")] },
      { role: "assistant", content: "" },
      { role: "assistant", content: "end" },
    ]),
  ).toEqual([
    { role: "user", content: "go" },
    { role: "assistant", content: null, tool_calls: [call("a")] },
    result("a"),
    { role: "assistant", content: "end" },
  ]);
});

test("the repair keeps one system message, at the front", () => {
  expect(
    repairMessages([
      { role: "user", content: "go" },
      { role: "system", content: "one" },
      { role: "system", content: "two" },
    ]),
  ).toEqual([
    { role: "system", content: "one" },
    { role: "user", content: "go" },
  ]);
});

test("any shuffled history comes out valid", () => {
  let seed = 7;
  const random = (limit: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % limit;
  };
  const make: (() => Message)[] = [
    () => ({ role: "user", content: `u${random(9)}` }),
    () => ({ role: "assistant", content: `a${random(9)}` }),
    () => ({ role: "assistant", content: null, tool_calls: [call(`c${random(5)}`), call(`d${random(5)}`)] }),
    () => result(`c${random(5)}`),
    () => result(`d${random(5)}`),
    () => ({ role: "system", content: "s" }),
  ];
  for (let round = 0; round < 2000; round += 1) {
    const history = Array.from({ length: random(12) }, () => make[random(make.length)]!());
    expectValid(repairMessages(history));
  }
});

function expectValid(messages: readonly Message[]): void {
  const open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const previous = messages[index - 1];
    if (message.role === "system") expect(index).toBe(0);
    if (message.role === "tool") {
      expect(open.shift()).toBe(message.tool_call_id);
      continue;
    }
    expect(open).toEqual([]);
    if (message.role !== "system") expect(previous?.role).not.toBe(message.role);
    if (message.role === "assistant") open.push(...(message.tool_calls ?? []).map(({ id }) => id));
  }
  expect(open).toEqual([]);
}

test("a valid history is returned as it is", () => {
  const call = { id: "c1", type: "function", function: { name: "x", arguments: "{}" } } as const;
  const valid: readonly Message[] = [
    { role: "system", content: "s" },
    { role: "user", content: "u" },
    { role: "assistant", content: null, tool_calls: [call, { ...call, id: "c2" }] },
    { role: "tool", tool_call_id: "c1", content: "1" },
    { role: "tool", tool_call_id: "c2", content: "2" },
    { role: "assistant", content: "done" },
  ];
  expect(repairMessages(valid)).toBe(valid);
  for (let left = 0; left < valid.length; left += 1) {
    const broken = valid.toSpliced(left, 1);
    expect(repairMessages(repairMessages(broken))).toEqual(repairMessages(broken));
  }
});
