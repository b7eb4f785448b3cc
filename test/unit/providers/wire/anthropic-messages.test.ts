import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Anthropic } from "@anthropic-ai/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useNetwork } from "../../../../agent-core/platform/http/connections.ts";
import { streamModel } from "../../../../agent-core/providers/stream-model.ts";
import type { ModelEvent, ModelRequest } from "../../../../agent-core/providers/wire/wire.ts";
import { callsOf, collect, joined } from "../../../conformance/collect.ts";
import { describeWire, requestTo } from "../../../conformance/wire.ts";
import type { Answer } from "../../../support/model-server/answer.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../../../support/model-server/model-server.ts";
import { AUTHORITY, startProxy, startTlsFront } from "../../../support/network/servers.ts";

describeWire({ mode: "anthropic_messages", malformed: '{"type":"content_block_delta","index":"one"}' });

let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await server.stop();
});

function ask(answer: Answer, more: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  server.script(answer);
  return collect(streamModel(requestTo(server, more), "anthropic_messages", new AbortController().signal));
}

test("the request has the system prompt beside the messages, tools, a ceiling, and marks for the cache", async () => {
  const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  await ask(say("ok"), {
    model: "claude-sonnet-5-5",
    tools: [{ name: "read_file", description: "Read.", parameters }],
    sampling: { maxTokens: 99, reasoningEffort: "low" },
  });
  const mark = { cache_control: { type: "ephemeral" } };
  expect(server.requests[0]?.url).toBe("/v1/messages");
  expect(server.requests[0]?.body).toEqual({
    model: "claude-sonnet-5-5",
    max_tokens: 99,
    stream: true,
    tools: [{ name: "read_file", description: "Read.", input_schema: parameters }],
    system: [{ type: "text", text: "Be brief.", ...mark }],
    messages: [{ role: "user", content: [{ type: "text", text: "hello", ...mark }] }],
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "low" },
  });
});

test("thinking and calls of one answer go back as they came, and the next request begins with the last", async () => {
  const model = "claude-sonnet-5-5";
  const first = await ask(
    { parts: [{ type: "reasoning", text: "Look first." }, { type: "text", text: "I look." }, call("list", { n: 1 })] },
    { model },
  );
  const finish = first.at(-1);
  if (finish?.type !== "finish") throw new Error(JSON.stringify(finish));
  const calls = first.flatMap((event) => (event.type === "tool-call-end" ? [event.call] : []));
  await ask(say("done"), {
    model,
    messages: [
      ...requestTo(server).messages,
      {
        role: "assistant",
        content: joined(first, "text-delta"),
        reasoning: joined(first, "reasoning-delta"),
        reasoning_details: finish.reasoningDetails ?? [],
        tool_calls: calls,
      },
      { role: "tool", tool_call_id: calls[0]?.id ?? "", content: "a.txt" },
    ],
  });
  const [before, after] = server.requests.map(({ body }) =>
    JSON.stringify(body.messages, (key, value: unknown) => (key === "cache_control" ? undefined : value)),
  );
  expect(after?.startsWith(before?.slice(0, -1) ?? "nothing")).toBe(true);
  expect(JSON.parse(after ?? "[]")[1]).toEqual({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "Look first.", signature: "c2lnbmVk10" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "toolu_1_0", name: "list", input: { n: 1 } },
    ],
  });
});

test("a compatible endpoint is given the key in both ways; an address may end in the version or not", async () => {
  const root = server.baseUrl.replace("/v1", "");
  for (const baseUrl of [server.baseUrl, `${server.baseUrl}/`, root, `${root}/anthropic`]) {
    await ask(say("ok"), { endpoint: { provider: "custom", baseUrl, apiKey: "the-key-itself" } });
  }
  expect(server.requests.map(({ url }) => url)).toEqual([
    "/v1/messages",
    "/v1/messages",
    "/v1/messages",
    "/anthropic/v1/messages",
  ]);
  expect(server.requests[0]?.headers).toMatchObject({
    "x-api-key": "the-key-itself",
    authorization: "Bearer the-key-itself",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
  });
});

test("Anthropic itself is given the key in its own header only", async () => {
  const tls = await startTlsFront(Number(new URL(server.baseUrl).port));
  const proxy = await startProxy({ plain: tls.port, tunnels: tls.port });
  useNetwork({ HERMES_PROXY: proxy.url, HERMES_CA_FILE: AUTHORITY });
  const endpoint = { provider: "anthropic", baseUrl: "https://api.anthropic.com", apiKey: "the-key-itself" };
  const events = await ask(fail(401, "no"), { endpoint });
  useNetwork({});
  await proxy.stop();
  await tls.stop();
  expect(proxy.seen).toEqual(["CONNECT api.anthropic.com:443"]);
  expect(server.requests.map(({ url }) => url)).toEqual(["/v1/messages"]);
  const headers = server.requests[0]?.headers;
  expect(headers).toMatchObject({ "x-api-key": "the-key-itself", "anthropic-version": "2026-10-21" });
  expect(headers).not.toHaveProperty("authorization");
  expect(events).toMatchObject([{ type: "fault", fault: { kind: "authentication" } }]);
});

test("without a key none is sent, whatever the environment and the library's own files hold", async () => {
  const folder = mkdtempSync(join(tmpdir(), "anthropic-profile-"));
  mkdirSync(join(folder, "configs"));
  const profile = {
    base_url: "http://127.0.0.1:1",
    authentication: { type: "user_oauth", access_token: "of-another" },
  };
  writeFileSync(join(folder, "configs", "default.json"), JSON.stringify(profile));
  vi.stubEnv("ANTHROPIC_CONFIG_DIR", folder);
  vi.stubEnv("ANTHROPIC_PROFILE", "default");
  vi.stubEnv("ANTHROPIC_API_KEY", "key-of-another");
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", "token-of-another");
  vi.stubEnv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/of-another");
  vi.stubEnv("ANTHROPIC_CUSTOM_HEADERS", "x-org: of-another\nAuthorization: Bearer of-another");
  vi.stubEnv("ANTHROPIC_LOG", "debug");
  const written = [
    vi.spyOn(console, "log"),
    vi.spyOn(console, "debug"),
    vi.spyOn(console, "info"),
    vi.spyOn(console, "warn"),
  ];
  const events = await ask(say("ok"), { endpoint: { provider: "custom", baseUrl: server.baseUrl, apiKey: undefined } });
  rmSync(folder, { recursive: true });
  expect(joined(events, "text-delta")).toBe("ok");
  const headers = server.requests[0]?.headers ?? {};
  expect(headers).not.toHaveProperty("authorization");
  expect(headers).not.toHaveProperty("x-api-key");
  expect(JSON.stringify(headers)).not.toContain("of-another");
  for (const output of written) expect(output).not.toHaveBeenCalled();
});

test("a model that is to be retired is used without a word on the console", async () => {
  const warn = vi.spyOn(console, "warn");
  await ask(say("ok"), { model: "claude-sonnet-4-5", sampling: { reasoningEffort: "low" } });
  expect(warn).not.toHaveBeenCalled();
});

test("a redirect is not followed: neither key nor conversation reach another origin, and the message says where", async () => {
  const from = createServer((_, response) => {
    response.writeHead(307, { location: `${server.baseUrl}/messages?token=secret-of-the-query` }).end();
  });
  await new Promise<void>((resolve) => from.listen(0, "127.0.0.1", resolve));
  const { port } = from.address() as AddressInfo;
  const endpoint = { provider: "custom", baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: "a-key-that-must-stay" };
  const events = await ask(say("never asked"), { endpoint });
  await new Promise((resolve) => from.close(resolve));
  expect(server.requests).toHaveLength(0);
  expect(events).toMatchObject([{ type: "fault", fault: { kind: "bad-request" } }]);
  expect(JSON.stringify(events)).toContain(
    `http://127.0.0.1:${port} redirects to ${server.baseUrl}/messages; if you trust that place`,
  );
  expect(JSON.stringify(events)).not.toMatch(/must-stay|secret-of-the-query/);
});

test("an error in the middle of the stream is what it says it is", async () => {
  const kinds = {
    overloaded_error: "overloaded",
    rate_limit_error: "rate-limit",
    api_error: "server",
    timeout_error: "timeout",
    authentication_error: "authentication",
    billing_error: "billing",
    invalid_request_error: "bad-request",
  };
  for (const [type, kind] of Object.entries(kinds)) {
    const data = JSON.stringify({ type: "error", error: { type, message: "so it is" }, request_id: "req_1" });
    const events = await ask({
      parts: [
        { type: "text", text: "I was" },
        { type: "raw", data },
      ],
    });
    expect(events.at(-1), type).toMatchObject({ type: "fault", fault: { kind } });
  }
});

test("a server that answers with one document is understood", async () => {
  const content = [
    { type: "text", text: "whole" },
    { type: "tool_use", id: "c", name: "list", input: { a: 1 } },
  ];
  const body = JSON.stringify({ type: "message", role: "assistant", content, stop_reason: "tool_use" });
  const events = await ask({ status: 200, body });
  expect(joined(events, "text-delta")).toBe("whole");
  expect(callsOf(events)).toEqual([["list", '{"a":1}']]);
  expect(events.at(-1)).toMatchObject({ type: "finish", reason: "tool_calls" });
});

test("an error in a document with status 200 is an error", async () => {
  expect(await ask({ ...fail(401, "no such key"), status: 200 })).toMatchObject([{ type: "fault" }]);
});

test("message_stop is the end, even when the server keeps the connection open or goes on", async () => {
  const stop = { type: "raw", data: '{"type":"message_stop"}' } as const;
  const more = { type: "raw", data: "[DONE]" } as const;
  for (const last of [{ type: "stall" } as const, more]) {
    const events = await ask({ parts: [{ type: "text", text: "hi" }, stop, last], finish: null });
    expect(events.map(({ type }) => type)).toEqual(["text-delta", "finish"]);
  }
});

test("the words of the last event are no end when the model writes them", async () => {
  const words = 'It ends with {"type":"message_stop"} and goes on.';
  expect(joined(await ask(say(words)), "text-delta")).toBe(words);
  const parts = [
    { type: "text", text: words },
    { type: "text", text: " Indeed." },
  ] as const;
  expect(joined(await ask({ parts }), "text-delta")).toBe(`${words} Indeed.`);
});

test("[DONE] without it is a cut", async () => {
  const events = await ask({
    parts: [
      { type: "text", text: "hi" },
      { type: "raw", data: "[DONE]" },
    ],
    finish: null,
  });
  expect(events.at(-1)).toMatchObject({ type: "fault", fault: { kind: "cut-off" } });
});

test("Anthropic's own library can read the test server", async () => {
  server.script({
    parts: [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "So. " },
      { type: "text", text: "Now." },
      call("list", {}),
      call("read_file", { path: "a" }),
    ],
  });
  const client = new Anthropic({ apiKey: "k", baseURL: server.baseUrl.replace("/v1", ""), openTelemetry: false });
  const asked = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi" } as const] };
  const message = await client.messages.stream(asked).finalMessage();
  expect(message).toMatchObject({
    content: [
      { type: "thinking", thinking: "Hm.", signature: "c2lnbmVk10" },
      { type: "text", text: "So. Now." },
      { type: "tool_use", id: "toolu_1_0", name: "list", input: {} },
      { type: "tool_use", id: "toolu_1_1", name: "read_file", input: { path: "a" } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 30, cache_creation_input_tokens: 10, cache_read_input_tokens: 60, output_tokens: 20 },
  });
});

test("connections are used again", async () => {
  for (const words of ["one", "two", "three", "four", "five"]) await ask(say(words));
  expect(new Set(server.requests.map(({ port }) => port)).size).toBeLessThanOrEqual(2);
});
