import { describe, expect, test } from "vitest";
import { readServerSentEvents } from "../../../../agent-core/providers/wire/server-sent-events.ts";

const isLast = (data: string): boolean => data === "[DONE]";

function bodyOf(...packets: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const packet of packets) controller.enqueue(packet);
      controller.close();
    },
  });
}

async function read(body: ReadableStream<Uint8Array>): Promise<string[]> {
  const events: string[] = [];
  for await (const batch of readServerSentEvents(body, isLast)) events.push(...batch);
  return events;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("the format", () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ["events end with an empty line", "data: a\n\ndata: b\n\n", ["a", "b"]],
    ["lines may end with CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    ["the blank after the colon is no part of the data", "data:a\n\ndata:  b\n\n", ["a", " b"]],
    ["data of several lines is one event", "data: a\ndata: b\n\n", ["a\nb"]],
    ["comments and other fields are passed over", ": ping\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", ["a"]],
    ["events without data are none", "data:\n\nevent: ping\n\ndata: a\n\n", ["a"]],
    ["an event that was cut off is not given", "data: a\n\ndata: b\n", ["a"]],
    ["lines may end with CR alone", "data: a\r\rdata: b\r\r", ["a", "b"]],
    ["the last event needs no blank line", 'data: a\n\ndata: {"b":1}', ["a", '{"b":1}']],
    ["nor the end of its line", "data: a\n\ndata: [DONE]", ["a", "[DONE]"]],
    ["half an event is dropped", 'data: a\n\ndata: {"b":', ["a"]],
    [
      "events may follow each other without blank lines",
      'data: {"a":1}\ndata: {"b":2}\ndata: [DONE]\n',
      ['{"a":1}', '{"b":2}', "[DONE]"],
    ],
    ["one document is one event", ' {\n\n"a": 1}\n', [' {\n\n"a": 1}\n']],
    ["blank lines may come first", "\r\n\ndata: a\n\n", ["a"]],
    ["a byte order mark is passed over", "\u{feff}data: a\n\n", ["a"]],
    ["empty bodies have no events", "", []],
  ];
  test.each(cases)("%s", async (_, text, events) => {
    expect(await read(bodyOf(bytes(text)))).toEqual(events);
  });
});

test("packets may end anywhere, also inside a character or a line end", async () => {
  const stream = bytes('data: grüß 👋\r\n\r\n: c\n\ndata: {"a":1}\n\n');
  for (let cut = 0; cut <= stream.length; cut += 1) {
    expect(await read(bodyOf(stream.slice(0, cut), stream.slice(cut)))).toEqual(["grüß 👋", '{"a":1}']);
  }
  const single = [...stream].map((byte) => Uint8Array.of(byte));
  expect(await read(bodyOf(...single))).toEqual(["grüß 👋", '{"a":1}']);
});

test("any kind of line end may be cut anywhere", async () => {
  const stream = bytes('\r\n\r\ndata: {"a":1}\r\rdata: {"b":2}\n\r\ndata: {"c":3}');
  for (let cut = 0; cut <= stream.length; cut += 1) {
    expect(await read(bodyOf(stream.slice(0, cut), stream.slice(cut)))).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  }
});

test("a web page is an error", async () => {
  await expect(read(bodyOf(bytes("\n"), bytes("<!doctype html>")))).rejects.toThrow("a web page instead of a stream");
});

test("a body without a blank line after [DONE] does not have to end", async () => {
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes("data: [DONE]\n")) });
  expect(await read(body)).toEqual(["[DONE]"]);
});

test("after the last event nothing is given, and a body that stays open is given up", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes("data: a\n\ndata: [DONE]\n\n")),
    cancel() {
      cancelled = true;
    },
  });
  expect(await read(body)).toEqual(["a", "[DONE]"]);
  expect(cancelled).toBe(true);
});

test("a body that ends soon after the last event is read to its end: its connection can be used again", async () => {
  let cancelled = false;
  const packets = [bytes("data: [DONE]\n\n"), bytes(": late\n")];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve));
        const packet = packets.shift();
        if (packet === undefined) controller.close();
        else controller.enqueue(packet);
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  expect(await read(body)).toEqual(["[DONE]"]);
  expect(cancelled).toBe(false);
});

test("a body that breaks throws what broke it", async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new TypeError("terminated")),
  });
  await expect(read(broken)).rejects.toThrow("terminated");
});

test("a reader that stops ends the body", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes("data: a\n\n")),
    cancel() {
      cancelled = true;
    },
  });
  for await (const _ of readServerSentEvents(body, isLast)) break;
  expect(cancelled).toBe(true);
});

test.each([
  ["line", "data: "],
  ["event", "data: x\ndata: "],
])("an endless %s is an error", async (_, begin) => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes(begin)),
    pull: (controller) => controller.enqueue(bytes("x".repeat(4_194_304))),
  });
  await expect(read(body)).rejects.toThrow("an event of more than 16777216 characters");
});
