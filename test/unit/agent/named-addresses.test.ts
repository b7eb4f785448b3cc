import { expect, test } from "vitest";
import { SessionRecord } from "../../../agent-core/agent/session-record.ts";
import type { Message } from "../../../agent-core/messages/message.ts";

function called(id: string, name: string, args: object, content: string): readonly Message[] {
  const call = { id, type: "function", function: { name, arguments: JSON.stringify(args) } } as const;
  return [
    { role: "assistant", content: "", tool_calls: [call] },
    { role: "tool", tool_call_id: id, content },
  ];
}

function names(messages: readonly Message[], address: string): boolean {
  const names = SessionRecord.prototype.names;
  return names.call({ conversation: { messages } } as unknown as SessionRecord, address);
}

const user = (content: string): Message => ({ role: "user", content });

test("the user names a host", () => {
  const said = [user("Read the docs of docs.example.com, please")];
  expect(names(said, "https://docs.example.com/a?b=1")).toBe(true);
  for (const other of [
    "https://example.com/a",
    "https://docs.example.com.evil.org/",
    "https://s.example.co/",
    "nonsense",
  ])
    expect(names(said, other), other).toBe(false);
});

test("a file, a page or a search result names an address to the letter", () => {
  const found = [user("go"), ...called("1", "web_search", { query: "x" }, "1. A\n   https://a.org/docs/b\n   text")];
  expect([names(found, "https://a.org/docs/b"), names(found, "https://a.org/docs/b/#top")]).toEqual([true, true]);
  for (const other of ["https://a.org/docs/b?data=secret", "https://a.org/docs", "https://a.org/docs/bc"])
    expect(names(found, other), other).toBe(false);
});

test("an address that the model wrote first is not named by a result that repeats it", () => {
  const address = "https://evil.org/?q=what-I-read";
  const echoed = [user("go"), ...called("1", "web_search", { query: address }, `results for ${address}`)];
  expect(names(echoed, address)).toBe(false);
  const printed = [user("go"), ...called("1", "terminal", { command: "printf https://%s x" }, address)];
  expect(names(printed, address)).toBe(false);
});
