import { Readable } from "node:stream";
import type { AnyMessage } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import { incomingMessages } from "../../../agent-core/entry/message-lines.ts";

const MAX_BYTES = 3_000;

/** Messages that arrive, and the replies to the others. */
async function receive(
  text: string,
  chunkBytes = 700,
): Promise<{ readonly messages: AnyMessage[]; readonly replies: AnyMessage[] }> {
  const bytes = Buffer.from(text);
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) chunks.push(bytes.subarray(start, start + chunkBytes));
  const replies: AnyMessage[] = [];
  const reply = (message: AnyMessage): void => void replies.push(message);
  const messages: AnyMessage[] = [];
  for await (const message of incomingMessages(Readable.from(chunks), { maxBytes: MAX_BYTES, reply })) {
    messages.push(message);
  }
  return { messages, replies };
}

const next = { jsonrpc: "2.0", id: 9, method: "next" };
const line = JSON.stringify(next);
const long = "é".repeat(2_000);

test.for([1, 7, 100_000])(
  "the stream reads lines that arrive in pieces of %i bytes, with blank lines and no last newline",
  async (size) => {
    const text = { jsonrpc: "2.0", method: "one", params: { text: "é\u2028 😀" } };
    const { messages, replies } = await receive(`\n${JSON.stringify(text)}\r\n  \n${line}`, size);
    expect(messages).toEqual([text, next]);
    expect(replies).toEqual([]);
  },
);

test.for(["null", "5", "true", '"x"'])("a line that is %s gets an error, and the next line is read", async (value) => {
  const { messages, replies } = await receive(`${value}\n${line}`);
  expect(replies).toEqual([{ jsonrpc: "2.0", id: null, error: { code: -32600, message: "message is not an object" } }]);
  expect(messages).toEqual([next]);
});

test.for([
  ["with its id first", { jsonrpc: "2.0", id: 3, method: "session/prompt", params: { long } }, 3],
  ["with its id last", { params: { long, id: 8 }, method: "session/prompt", id: 'a"b', jsonrpc: "2.0" }, 'a"b'],
  ["without an id", { jsonrpc: "2.0", method: "session/prompt", params: { id: 8, long } }, null],
] as const)("answers a request over the limit %s, and reads the next line", async ([, message, id]) => {
  const { messages, replies } = await receive(`${JSON.stringify(message)}\n${line}\n`);
  expect(messages).toEqual([next]);
  const error = { code: -32600, message: "message too large (1 MB, limit 1 MB)" };
  expect(replies).toEqual([{ jsonrpc: "2.0", id, error }]);
});

test.for([
  ["first", { jsonrpc: "2.0", id: 3, result: { content: long } }],
  ["last", { result: { content: long, id: 8 }, id: 3, jsonrpc: "2.0" }],
] as const)("fails the request of ours whose response is over the limit, with the id %s", async ([, message]) => {
  const { messages, replies } = await receive(`${JSON.stringify(message)}\n${line}\n`);
  expect(messages).toMatchObject([
    { id: 3, error: { code: -32600, message: expect.stringContaining("too large") } },
    next,
  ]);
  expect(replies).toEqual([]);
});

test("the stream answers invalid JSON and JSON that is nested too deeply", async () => {
  const deep = `{"jsonrpc":"2.0","id":4,"method":"a","params":${"[".repeat(500)}${"]".repeat(500)}}`;
  const { messages, replies } = await receive(`{ no\n${deep}\n{"jsonrpc":"2.0","id":5,"result":{"a":}}\n${line}\n`);
  expect(replies).toMatchObject([
    { id: null, error: { code: -32700 } },
    { id: 4, error: { code: -32600, message: "message nested too deeply (limit 200 levels)" } },
  ]);
  expect(messages).toMatchObject([{ id: 5, error: { code: -32700 } }, next]);
});
