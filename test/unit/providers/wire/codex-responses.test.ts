import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { AIAgent } from "../../../../agent-core/index.ts";
import { streamModel } from "../../../../agent-core/providers/stream-model.ts";
import type { ModelEvent, ModelRequest } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, collect, joined, transcript } from "../../../conformance/collect.ts";
import { describeWire, requestTo } from "../../../conformance/wire.ts";
import type { Answer } from "../../../support/model-server/answer.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../../../support/model-server/model-server.ts";

describeWire({
  mode: "codex_responses",
  malformed: '{"type":"response.output_text.delta","output_index":0,"delta":7}',
});

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.stop());
afterAll(() => vi.unstubAllEnvs());

function ask(answer: Answer, more: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  server.script(answer);
  return collect(streamModel(requestTo(server, more), "codex_responses", new AbortController().signal));
}

const event = (type: string, fields: object): string => JSON.stringify({ type, ...fields });

test("OpenAI's own library reads what the model server says, as the same answer", async () => {
  const answer: Answer = {
    parts: [
      { type: "reasoning", text: "Hm, hm, hm." },
      { type: "text", text: "Let me " },
      { type: "text", text: "look." },
      call("read_file", { path: "src/äöü.ts" }),
      call("list", {}),
    ],
  };
  server.script(answer);
  const client = new OpenAI({ apiKey: "none", baseURL: server.baseUrl, maxRetries: 0 });
  const response = await client.responses.stream({ model: "gpt-5", input: "hello" }).finalResponse();
  expect(response.output_text).toBe("Let me look.");
  const [reasoning] = response.output;
  expect(reasoning).toMatchObject({ type: "reasoning", summary: [{ text: "Hm, hm, hm." }] });
  const events = await ask(answer);
  expect(joined(events, "text-delta")).toBe(response.output_text);
  expect(joined(events, "reasoning-delta")).toBe("Hm, hm, hm.");
  const calls = response.output.flatMap((item) =>
    item.type === "function_call" ? [[item.name, item.arguments] as const] : [],
  );
  expect(callsOf(events)).toEqual(calls);
  expect(response.usage?.input_tokens_details.cached_tokens).toBe(60);
});

test("the request asks for a stream that is stored nowhere, at the path of Responses", async () => {
  await ask(say("ok"));
  expect(server.requests[0]?.url).toBe("/v1/responses");
  expect(server.requests[0]?.body).toEqual({
    model: "test-model",
    instructions: "Be brief.",
    input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] }],
    stream: true,
    store: false,
    prompt_cache_key: expect.stringMatching(/^hermes-/),
  });
  expect(server.requests[0]?.headers.authorization).toMatch(/^Bearer zq81-/);
});

test("without a key no key is sent, whatever the environment holds", async () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-of-another-provider");
  vi.stubEnv("OPENAI_ORG_ID", "org-of-another-provider");
  await ask(say("ok"), { endpoint: { provider: "custom", baseUrl: server.baseUrl, apiKey: undefined } });
  const headers = server.requests[0]?.headers ?? {};
  expect(headers).not.toHaveProperty("authorization");
  expect(JSON.stringify(headers)).not.toContain("another-provider");
});

test("usage has its cached and reasoning tokens", async () => {
  const usage = { input: 900, cached: 768, output: 50, reasoning: 32 };
  expect(transcript(await ask({ parts: [{ type: "text", text: "hi" }], usage })).at(-1)).toBe(
    "finish stop 900(768) 50(32)",
  );
});

test("a content filter is a refusal", async () => {
  const events = await ask({ parts: [{ type: "text", text: "Once" }], finish: "content_filter" });
  expect(events.at(-1)).toMatchObject({ type: "finish", reason: "refusal" });
});

test("a response that failed is a fault with the provider's words, and its code tells the kind", async () => {
  expect(await ask({ parts: [], finish: "failed" })).toMatchObject([
    { type: "fault", fault: { kind: "server", message: expect.stringContaining("The model failed") } },
  ]);
  const failed = { response: { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down." } } };
  const parts = [{ type: "raw", data: event("response.failed", failed) } as const];
  expect(await ask({ parts, finish: null })).toMatchObject([{ type: "fault", fault: { kind: "rate-limit" } }]);
});

test("an error event is a fault", async () => {
  const data = event("error", { code: "insufficient_quota", message: "You exceeded your current quota.", param: null });
  const events = await ask({ parts: [{ type: "raw", data }] });
  expect(events).toMatchObject([{ type: "fault", fault: { kind: "billing" } }]);
});

test("a server that answers with one document is understood", async () => {
  const output = [
    { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "whole" }] },
    { type: "function_call", id: "fc_1", call_id: "c", name: "list", arguments: "" },
  ];
  const events = await ask({
    status: 200,
    body: JSON.stringify({ object: "response", status: "completed", error: null, output }),
  });
  expect(joined(events, "text-delta")).toBe("whole");
  expect(callsOf(events)).toEqual([["list", "{}"]]);
  expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
});

test("an error in a document with status 200 is an error", async () => {
  expect(await ask({ ...fail(401, "no such key"), status: 200 })).toMatchObject([{ type: "fault" }]);
});

test("a document of a response that still runs is no answer", async () => {
  const body = JSON.stringify({ object: "response", status: "in_progress", output: [] });
  expect(await ask({ status: 200, body })).toMatchObject([{ type: "fault", fault: { kind: "cut-off" } }]);
});

test("response.completed is the end, even when the server keeps the connection open; [DONE] is none", async () => {
  const end = { type: "raw", data: event("response.completed", { response: { status: "completed" } }) } as const;
  const done = { type: "raw", data: "[DONE]" } as const;
  const text = { type: "text", text: "hi" } as const;
  expect((await ask({ parts: [text, end, { type: "stall" }] })).at(-1)).toMatchObject({ reason: "stop" });
  expect((await ask({ parts: [text, end, done], finish: null })).at(-1)).toMatchObject({ reason: "stop" });
  expect((await ask({ parts: [text, done], finish: null })).at(-1)).toMatchObject({ fault: { kind: "cut-off" } });
});

test("connections are used again", async () => {
  for (const words of ["one", "two", "three", "four", "five"]) await ask(say(words));
  // Two, because the client library frees a connection a moment after its answer.
  expect(new Set(server.requests.map(({ port }) => port)).size).toBeLessThanOrEqual(2);
});

test("an agent's turn: reasoning goes back as it came, before what it led to, and the prefix stays", async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-responses-")));
  writeFileSync(join(cwd, "a.txt"), "one\n");
  const agent = new AIAgent({
    baseUrl: server.baseUrl,
    apiMode: "codex_responses",
    model: "gpt-5",
    apiKey: "sk-test-123456",
    cwd,
    home: join(cwd, ".home"),
    environment: {},
  });
  server.script(
    {
      parts: [
        { type: "reasoning", text: "Both files. " },
        { type: "text", text: "Let me look." },
        { type: "reasoning", text: "Start." },
        call("read_file", { path: "a.txt" }),
        call("read_file", { path: "b.txt" }),
      ],
    },
    {
      parts: [
        { type: "reasoning", text: "One line." },
        { type: "text", text: "It says one." },
      ],
    },
    say("You are welcome."),
  );
  expect(await agent.chat("What do they say?")).toBe("It says one.");
  expect(await agent.chat("Thanks")).toBe("You are welcome.");
  const [first, second, third] = server.requests.map(({ body }) => body["input"] as readonly object[]);
  expect(second).toEqual([
    ...(first ?? []),
    {
      type: "reasoning",
      id: "rs_1_0",
      summary: [{ type: "summary_text", text: "Both files. " }],
      encrypted_content: "gAAAA-rs_1_0",
    },
    expect.objectContaining({ type: "message", id: "msg_1_1" }),
    expect.objectContaining({ type: "reasoning", id: "rs_1_2", encrypted_content: "gAAAA-rs_1_2" }),
    expect.objectContaining({ type: "function_call", id: "fc_1_3", call_id: "call_1_3" }),
    expect.objectContaining({ type: "function_call", id: "fc_1_4", call_id: "call_1_4" }),
    expect.objectContaining({ type: "function_call_output", call_id: "call_1_3" }),
    expect.objectContaining({ type: "function_call_output", call_id: "call_1_4" }),
  ]);
  expect(JSON.stringify(second).startsWith(JSON.stringify(first).slice(0, -1))).toBe(true);
  expect(JSON.stringify(third).startsWith(JSON.stringify(second).slice(0, -1))).toBe(true);
  const keys = server.requests.map(({ body }) => body["prompt_cache_key"]);
  expect(new Set(keys).size).toBe(1);
});
