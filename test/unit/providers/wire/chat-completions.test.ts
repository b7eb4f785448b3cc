import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { streamModel } from "../../../../agent-core/providers/stream-model.ts";
import type { ModelEvent, ModelRequest } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, collect, joined, transcript } from "../../../conformance/collect.ts";
import { describeWire, requestTo } from "../../../conformance/wire.ts";
import type { Answer } from "../../../support/model-server/answer.ts";
import { fail, type ModelServer, say, startModelServer } from "../../../support/model-server/model-server.ts";

describeWire({ mode: "chat_completions", malformed: '{"choices":"none"}' });

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.stop());
afterAll(() => vi.unstubAllEnvs());

function ask(answer: Answer, more: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  server.script(answer);
  return collect(streamModel(requestTo(server, more), "chat_completions", new AbortController().signal));
}

test("the request asks for a stream with usage, and carries tools and sampling", async () => {
  const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  await ask(say("ok"), {
    tools: [{ name: "read_file", description: "Read.", parameters }],
    sampling: { temperature: 0, topP: 0.5, stop: ["END"], maxTokens: 99, reasoningEffort: "low", presencePenalty: 1 },
  });
  expect(server.requests[0]?.body).toEqual({
    model: "test-model",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hello" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    tools: [{ type: "function", function: { name: "read_file", description: "Read.", parameters } }],
    temperature: 0,
    top_p: 0.5,
    stop: ["END"],
    max_tokens: 99,
    reasoning_effort: "low",
    presence_penalty: 1,
  });
  expect(server.requests[0]?.headers.authorization).toMatch(/^Bearer zq81-/);
});

test("without a key no key is sent, whatever the environment holds", async () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-of-another-provider");
  vi.stubEnv("OPENAI_ADMIN_KEY", "sk-admin-of-another-provider");
  vi.stubEnv("OPENAI_ORG_ID", "org-of-another-provider");
  vi.stubEnv("OPENAI_PROJECT_ID", "proj-of-another-provider");
  await ask(say("ok"), { endpoint: { provider: "custom", baseUrl: server.baseUrl, apiKey: undefined } });
  const headers = server.requests[0]?.headers ?? {};
  expect(headers).not.toHaveProperty("authorization");
  expect(JSON.stringify(headers)).not.toContain("another-provider");
});

test("a redirect is not followed: neither key nor conversation reach another origin, and the message says where", async () => {
  const from = createServer((_, response) => {
    response.writeHead(307, { location: `${server.baseUrl}/chat/completions` }).end();
  });
  await new Promise<void>((resolve) => from.listen(0, "127.0.0.1", resolve));
  const { port } = from.address() as AddressInfo;
  const endpoint = { provider: "custom", baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: "a-key-that-must-stay" };
  const events = await ask(say("never asked"), { endpoint });
  await new Promise((resolve) => from.close(resolve));
  expect(server.requests).toHaveLength(0);
  expect(events).toMatchObject([{ type: "fault", fault: { kind: "bad-request" } }]);
  expect(JSON.stringify(events)).toContain(`http://127.0.0.1:${port} redirects to ${server.baseUrl}/chat/completions`);
});

test("a server that answers with one document is understood", async () => {
  const message = {
    role: "assistant",
    content: "whole",
    tool_calls: [{ id: "c", function: { name: "list", arguments: "" } }],
  };
  const body = JSON.stringify({
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "tool_calls" }],
  });
  const events = await ask({ status: 200, body });
  expect(joined(events, "text-delta")).toBe("whole");
  expect(callsOf(events)).toEqual([["list", "{}"]]);
  expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
});

test("an error in a document with status 200 is an error", async () => {
  const events = await ask({ ...fail(401, "no such key"), status: 200 });
  expect(events).toMatchObject([{ type: "fault" }]);
});

test("[DONE] is the end, even when the server keeps the connection open", async () => {
  const parts = [{ type: "text", text: "hi" }, { type: "raw", data: "[DONE]" }, { type: "stall" }] as const;
  expect((await ask({ parts })).at(-1)).toMatchObject({ type: "finish", reason: "stop" });
});

test("[DONE] after half a call is a cut", async () => {
  const half = { type: "call", name: "x", input: {}, raw: '{"n":' } as const;
  const events = await ask({ parts: [half, { type: "raw", data: "[DONE]" }], finish: null });
  expect(callsOf(events)).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "fault", fault: { kind: "cut-off" } });
});

test("connections are used again", async () => {
  for (const words of ["one", "two", "three", "four", "five"]) await ask(say(words));
  // Two, because the client library frees a connection a moment after its answer.
  expect(new Set(server.requests.map(({ port }) => port)).size).toBeLessThanOrEqual(2);
});

test("a character cut by two packets arrives whole", async () => {
  const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "grüß 👋" } }] })}\n\n`;
  const bytes = Buffer.from(event);
  const cuts = [bytes.indexOf("ü") + 1, bytes.indexOf("👋") + 2];
  const events = await ask({
    parts: [bytes.subarray(0, cuts[0]), bytes.subarray(cuts[0], cuts[1]), bytes.subarray(cuts[1])].map((part) => ({
      type: "bytes",
      bytes: part,
    })),
  });
  expect(joined(events, "text-delta")).toBe("grüß 👋");
});

test("an address that nobody listens at cannot be reached, and the message says which", async () => {
  const { baseUrl } = server;
  await server.stop();
  const events = await collect(streamModel(requestTo({ baseUrl }), "chat_completions", new AbortController().signal));
  server = await startModelServer();
  expect(events).toMatchObject([{ type: "fault", fault: { kind: "network" } }]);
  expect(JSON.stringify(events)).toContain(`${new URL(baseUrl).host} cannot be reached`);
});

const hello = '{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}],"usage":USAGE}';
const counts = '{"prompt_tokens":7,"completion_tokens":2}';
const chunk = hello.replace("USAGE", counts);

test.each([
  [
    "counts as text",
    `data: ${hello.replace("USAGE", '{"prompt_tokens":"7","completion_tokens":"2"}')}\n\ndata: [DONE]\n\n`,
  ],
  ["bytes after the last event", `data: ${chunk}\n\ndata: [DONE]\n\ndata: {broken\n\n`],
  ["no blank line at the end", `data: ${chunk}`],
  ["no blank line anywhere", `data: ${chunk}\ndata: [DONE]\n`],
  ["lines that end with CR alone", `data: ${chunk}\r\rdata: [DONE]\r\r`],
])("a stream counts whole in spite of %s, even under application/json", async (_, body) => {
  for (const type of ["text/event-stream", "application/json"]) {
    const events = await ask({ status: 200, body, headers: { "content-type": type } });
    expect(transcript(events)).toEqual(['text "hello"', "finish stop 7(0) 2(0)"]);
  }
});

test("a usage that cannot be read never costs the answer", async () => {
  for (const usage of ['"many"', '{"prompt_tokens":"many","completion_tokens":[2]}', "[]"]) {
    const body = `data: ${hello.replace("USAGE", usage)}\n\ndata: [DONE]\n\n`;
    expect(transcript(await ask({ status: 200, body })).slice(0, 1)).toEqual(['text "hello"']);
  }
});

test.each([
  ["a list", '[{"error":{"code":429,"message":"Resource exhausted"}}]', "rate-limit", "Resource exhausted"],
  ["a detail", '{"detail":"Invalid API key"}', "authentication", "was refused"],
  ["a message alone", '{"object":"error","message":"The model x does not exist"}', "model-not-found", "has no model"],
  ["a text", '{"error":"out of memory"}', "unexplained", "out of memory"],
])("an error with the status 200 is read as one: %s", async (_, body, kind, said) => {
  for (const sent of [body, `data: ${body}\n\n`]) {
    const [event] = await ask({ status: 200, body: sent });
    expect(event).toMatchObject({ type: "fault", fault: { kind, message: expect.stringContaining(said) } });
  }
});
