import { expect, test } from "vitest";
import type { Message } from "../../../../agent-core/messages/message.ts";
import { quirksOf } from "../../../../agent-core/providers/deployments.ts";
import { bodyBytes, endpointUrl } from "../../../../agent-core/providers/endpoint-request.ts";
import { chatCompletionsBody } from "../../../../agent-core/providers/wire/chat-completions-request.ts";
import { requestTo } from "../../../conformance/wire.ts";

const OPENAI = "https://api.openai.com/v1";
const OPENROUTER = "https://openrouter.ai/api/v1";

function body(messages: readonly Message[], baseUrl = OPENROUTER, sampling = {}) {
  const request = requestTo({ baseUrl }, { messages, sampling });
  return chatCompletionsBody(request, quirksOf(request.endpoint));
}

const call = (json: string) => ({ id: "c1", type: "function", function: { name: "x", arguments: json } }) as const;

test("text, images, calls and results go as they are", () => {
  const url = "data:image/png;base64,AA==";
  const messages: readonly Message[] = [
    { role: "system", content: "s" },
    {
      role: "user",
      content: [
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url } },
      ],
    },
    { role: "assistant", content: null, tool_calls: [call('{"a":1}')] },
    { role: "tool", tool_call_id: "c1", content: "r" },
    { role: "assistant", content: "done" },
  ];
  expect(body(messages).messages).toEqual(messages);
});

test("reasoning stays at home; its opaque parts go back to the API that gave them", () => {
  const detail = { type: "reasoning.text", text: "hm", signature: "s", format: "anthropic-claude-v1", index: 0 };
  const messages: readonly Message[] = [
    {
      role: "assistant",
      content: "a",
      reasoning: "hm",
      reasoning_details: [detail, { type: "thinking", signature: "of another wire" }],
    },
  ];
  expect(body(messages).messages).toEqual([{ role: "assistant", content: "a", reasoning_details: [detail] }]);
  expect(body(messages, OPENAI).messages).toEqual([{ role: "assistant", content: "a" }]);
});

test("content is null only beside calls", () => {
  expect(body([{ role: "assistant", content: null }]).messages).toEqual([{ role: "assistant", content: "" }]);
});

test("half a call in the history is sent as an empty one", () => {
  const sent = body([{ role: "assistant", content: null, tool_calls: [call('{"command":"rm -')] }]).messages[0];
  expect(sent).toMatchObject({ tool_calls: [{ id: "c1", function: { name: "x", arguments: "{}" } }] });
});

test("ids and names that OpenAI refuses are replaced, the same for a call and its result", () => {
  const id = "x".repeat(41);
  const written = { id, type: "function", function: { name: "read the file!", arguments: "{}" } } as const;
  const [sent, result] = body([
    { role: "assistant", content: null, tool_calls: [written] },
    { role: "tool", tool_call_id: id, content: "r" },
  ]).messages;
  const stand = expect.stringMatching(/^call_[0-9a-f]{24}$/);
  expect(sent).toMatchObject({ tool_calls: [{ id: stand, function: { name: "read_the_file_" } }] });
  expect(result).toMatchObject({ tool_call_id: stand });
});

test("the output limit for OpenAI is max_completion_tokens", () => {
  expect(body([], OPENAI, { maxTokens: 9 })).toMatchObject({ max_completion_tokens: 9 });
  expect(body([], OPENAI, { maxTokens: 9 })).not.toHaveProperty("max_tokens");
  expect(body([], OPENROUTER, { maxTokens: 9 })).toMatchObject({ max_tokens: 9 });
});

test("the same history gives the same bytes, and a longer one only adds to them", () => {
  const history: Message[] = [
    { role: "system", content: "s" },
    { role: "user", content: "u" },
    { role: "assistant", content: null, tool_calls: [call("{}")], reasoning: "r" },
    { role: "tool", tool_call_id: "c1", content: "t" },
  ];
  const before = JSON.stringify(body(history).messages).slice(0, -1);
  const after = JSON.stringify(body([...history, { role: "assistant", content: "x" }]).messages);
  expect(after.startsWith(before)).toBe(true);
});

const read = (id: string, more: object = {}) => ({ ...call('{"path":"a"}'), id, ...more });

test("ids are nine letters or digits for Mistral's models, the same for a call and its result", () => {
  const messages: readonly Message[] = [
    { role: "assistant", content: null, tool_calls: [read("call_1_0"), read("D681PevKs")] },
    { role: "tool", tool_call_id: "call_1_0", content: "one" },
    { role: "tool", tool_call_id: "D681PevKs", content: "two" },
  ];
  for (const [baseUrl, model] of [
    ["https://api.mistral.ai/v1", "any"],
    [OPENROUTER, "mistralai/mistral-small"],
  ] as const) {
    const request = requestTo({ baseUrl }, { messages, model });
    const [answer, ...results] = chatCompletionsBody(request, quirksOf(request.endpoint)).messages;
    const ids = (answer as { tool_calls: { id: string }[] }).tool_calls.map(({ id }) => id);
    expect(ids).toEqual([expect.stringMatching(/^[a-zA-Z0-9]{9}$/), "D681PevKs"]);
    expect(results.map((result) => result.role === "tool" && result.tool_call_id)).toEqual(ids);
  }
});

test("readable reasoning returns to its field in turns with tools, and in no other", () => {
  const details = { reasoning_details: [{ type: "chat.reasoning", field: "reasoning_content" }] };
  const messages: readonly Message[] = [
    { role: "assistant", content: "Hello.", reasoning: "Greet.", ...details },
    { role: "user", content: "read it" },
    { role: "assistant", content: null, reasoning: "Look.", tool_calls: [read("c1")], ...details },
    { role: "tool", tool_call_id: "c1", content: "one" },
    { role: "assistant", content: "One.", reasoning: "Short.", ...details },
  ];
  const sent = body(messages).messages.filter(({ role }) => role === "assistant");
  expect(sent.map((message) => "reasoning_content" in message && message.reasoning_content)).toEqual([
    false,
    "Look.",
    "Short.",
  ]);
});

test.each([
  ["https://api.deepseek.com", "deepseek-chat", ""],
  ["https://api.moonshot.ai/v1", "kimi-k2.6", " "],
] as const)("%s gets reasoning for the calls of another server", (baseUrl, model, reasoning) => {
  const messages: readonly Message[] = [{ role: "assistant", content: null, tool_calls: [read("c1")] }];
  const request = requestTo({ baseUrl }, { messages, model });
  const [sent] = chatCompletionsBody(request, quirksOf(request.endpoint)).messages;
  expect(sent).toMatchObject({ reasoning_content: reasoning });
});

test("Gemini gets its own signature for calls of another server, on the first call of a message", () => {
  const extra = { extra_content: { google: { thought_signature: "own" } } };
  const messages: readonly Message[] = [
    { role: "assistant", content: null, tool_calls: [read("c1"), read("c2")] },
    { role: "assistant", content: null, tool_calls: [read("c3", { extra })] },
  ];
  const baseUrl = "https://generativelanguage.googleapis.com/v1beta/openai";
  const request = requestTo({ baseUrl }, { messages, model: "gemini-3-pro-preview" });
  const sent = chatCompletionsBody(request, quirksOf(request.endpoint)).messages;
  const skip = { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } };
  expect(sent).toMatchObject([{ tool_calls: [skip, { id: "c2" }] }, { tool_calls: [extra] }]);
  expect(JSON.stringify(sent).match(/thought_signature/g)).toHaveLength(3);
});

test("broken arguments in the history are sent as an empty object", () => {
  const [sent] = body([{ role: "assistant", content: null, tool_calls: [call('{"command":"ls",}')] }]).messages;
  expect(sent).toMatchObject({ tool_calls: [{ function: { arguments: "{}" } }] });
});

test("a later request converts only its new messages", () => {
  const first: Message = { role: "user", content: "one" };
  const [sent] = body([first]).messages;
  const later = body([first, { role: "assistant", content: "two" }]);
  expect(later.messages[0]).toBe(sent);
  expect(body([first], "https://api.mistral.ai/v1").messages[0]).not.toBe(sent);
});

test("the JSON of a body is the same text as without shared parts", () => {
  const tools = [{ name: "a", description: "b", parameters: { type: "object" } }];
  const text = String(
    bodyBytes({
      ...body([{ role: "user", content: "\u2028 \ud800" }], OPENAI, { stop: ["x"] }),
      tools,
      missing: undefined,
    }),
  );
  const parts = { list: [1, null, undefined, "a", [2]], nested: { list: [undefined] } };
  expect(text).toBe(JSON.stringify(JSON.parse(text)));
  expect(bodyBytes(parts).toString()).toBe(JSON.stringify(parts));
});

test.each([
  ["http://192.168.1.5:11434", "http://192.168.1.5:11434/v1/models"],
  ["http://192.168.1.5:11434/", "http://192.168.1.5:11434/v1/models"],
  ["http://192.168.1.5:11434/v1/", "http://192.168.1.5:11434/v1/models"],
  ["http://localhost:1234", "http://localhost:1234/v1/models"],
  ["http://localhost:11434/api", "http://localhost:11434/v1/models"],
  ["https://example.com/v1?a=b?c", "https://example.com/v1/models?a=b?c"],
  ["https://a.azure.com/d/gpt?api-version=1", "https://a.azure.com/d/gpt/models?api-version=1"],
  ["https://openrouter.ai", "https://openrouter.ai/api/v1/models"],
  ["http://localhost:8080", "http://localhost:8080/models"],
  ["https://example.com", "https://example.com/models"],
])("the address of a known server may lack its path: %s", (baseUrl, expected) => {
  const endpoint = { provider: "custom", baseUrl, apiKey: undefined };
  expect(endpointUrl({ mode: "chat_completions", endpoint }, "/models")).toBe(expected);
});
