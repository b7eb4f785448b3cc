import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { AIAgent } from "../../../agent-core/index.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";
import { Journal } from "../../../agent-core/sessions/journal.ts";
import { readJournal } from "../../../agent-core/sessions/read-journal.ts";
import { defineTool, type Tool } from "../../../agent-core/tools/tool.ts";
import { type ModelAgent, startModelAgent } from "../../support/model-agent.ts";
import { call, callTools, fail, say } from "../../support/model-server/model-server.ts";

let started: ModelAgent;
let { model, agent, cwd, notices, options } = {} as ModelAgent;

beforeEach(async () => {
  started = await startModelAgent();
  ({ model, agent, cwd, notices, options } = started);
});
afterEach(() => started.stop());

function notesTool(name: string): Tool {
  return defineTool({
    name: `mcp__notes__${name}`,
    toolset: "mcp-notes",
    need: "foreign",
    kind: "read",
    readOnly: true,
    description: "Notes.",
    input: z.object({}),
    title: () => name,
    effect: () => ({ kind: "none" }),
    run: async () => ({ ok: true, text: "" }),
  });
}

const picture = (data: string) =>
  ({ type: "image_url", image_url: { url: `data:image/png;base64,iVBORw0KGgoAAAAN${data}` } }) as const;
const look = (data: string) => [{ type: "text", text: "look" } as const, picture(data)];
const bodies = () => model.requests.map(({ body }) => JSON.stringify(body));

describe("a refusal in unknown words", () => {
  test.each([
    [400, "Unable to process input image"],
    [400, "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"],
    [415, "unsupported media: image/bmp"],
    [422, "图片格式不支持"],
    [400, "Provider returned error"],
    [413, "Payload Too Large"],
    [400, "Base64 string of provided image cannot be decoded."],
    [400, "Too many images provided. This model supports up to 5 images"],
    [400, "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`"],
    [406, "Non accettabile"],
    [500, "Failed to create new sequence: failed to process inputs: failed to process image: image: unknown format"],
  ])("of a picture leaves the picture out, and the session goes on: %i %s", async (status, words) => {
    model.respondWith((body) => (JSON.stringify(body).includes("AAANBAD") ? fail(status, words) : say("I see")));
    expect(await agent.chat("hello")).toBe("I see");
    const { finalResponse } = await agent.runConversation({ userMessage: look("BAD") });
    expect(finalResponse).toBe("I see");
    expect(notices.join("\n")).toContain("sent again without the new picture");
    const before = model.requests.length;
    expect(await agent.chat("and now?")).toBe("I see");
    expect(model.requests.length).toBe(before + 1);
  });

  test.each([
    [
      "OpenAI",
      "Invalid schema for function 'mcp__notes__bad': schema must have type 'object' and not have 'oneOf' at the top level.",
    ],
    ["Anthropic", "tools.NUMBER.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"],
    [
      "Gemini",
      "* GenerateContentRequest.tools[NUMBER].function_declarations[0].parameters.properties: should be non-empty",
    ],
    ["Azure", "Invalid 'tools[NUMBER].function.parameters': not a schema"],
    ["DeepSeek", "Failed to deserialize: function mcp__notes__bad has parameters that are no object"],
  ])("of a tool that %s names leaves the tool out, and the session goes on", async (_, words) => {
    const tools = ["good", "bad"].map((name) => notesTool(name));
    const own = new AIAgent({ ...options, extensions: [{ name: "mcp", tools: () => tools }] });
    model.respondWith((body) => {
      const names = ((body["tools"] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name);
      const number = names.indexOf("mcp__notes__bad");
      return number < 0 ? say("fine") : fail(400, words.replace("NUMBER", String(number)));
    });
    expect(await own.chat("hello")).toBe("fine");
    expect(notices.join("\n")).toContain("sent again without the tool mcp__notes__bad");
    const before = model.requests.length;
    expect(await own.chat("and now?")).toBe("fine");
    expect(model.requests.length).toBe(before + 1);
    expect(bodies().at(-1)).toContain("mcp__notes__good");
    await own.close();
  });

  test.each([
    [400, "Corrupted thought signature."],
    [400, "messages.1.content.0: Invalid `data` in `redacted_thinking` block"],
    [404, "Item with id 'rs_68' not found. Items are not persisted when `store` is set to false."],
  ])("of the opaque parts of an answer leaves them out, and the session goes on: %i %s", async (status, words) => {
    const message = { content: "first", reasoning_details: [{ type: "reasoning.encrypted", data: "sig-1" }] };
    const signed = { status: 200, body: JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }) };
    model.respondWith((body) => (JSON.stringify(body).includes("sig-1") ? fail(status, words) : signed));
    expect(await agent.chat("hello")).toBe("first");
    expect(await agent.chat("and now?")).toBe("first");
  });

  test("of a new picture keeps the pictures that were answered", async () => {
    model.respondWith((body) => (JSON.stringify(body).includes("AAANBAD") ? fail(400, "nope") : say("I see")));
    await agent.runConversation({ userMessage: look("GOOD") });
    await agent.runConversation({ userMessage: look("BAD") });
    expect(bodies().at(-1)).toContain("AAANGOOD");
    expect(bodies().at(-1)).not.toContain("AAANBAD");
  });

  test.each([
    "您的输入太多了",
    "Range of input length should be [1, 30720]",
    "tokens in request more than max tokens allowed",
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "bad things happened to your prompt",
  ])("of the longest request so far shortens the conversation once: %s", async (words) => {
    const long = "long words ".repeat(700);
    model.respondWith((body) => {
      const text = JSON.stringify(body);
      if (text.includes("You sum up")) return say("The sum.");
      return text.split("long words").length > 9_000 ? fail(400, words) : say(long.repeat(8));
    });
    for (const question of ["one", "two", "three"]) await agent.chat(question);
    expect(bodies().at(-1)?.includes("[COMPRESSED: ")).toBe(true);
  });

  test.each(["tool", "any"])(
    "of a template without a user message after a %s result puts an answer between",
    async (name) => {
      const named = new AIAgent({ ...options, model: name === "tool" ? "devstral-small" : "my-model" });
      model.respondWith(({ messages }) => {
        const isRefused = messages.some(({ role }, at) => role === "user" && messages[at - 1]?.["role"] === "tool");
        if (isRefused) return fail(400, "After the optional system message, something unexpected came");
        return messages.at(-1)?.["content"] === "list"
          ? callTools(call("search_files", { pattern: "*.md" }))
          : say("fine");
      });
      const signal = AbortSignal.timeout(60_000);
      model.script(callTools(call("search_files", { pattern: "*.md" })), fail(401, "no"));
      await named.runConversation({ userMessage: "list", signal });
      expect(await named.chat("and now?")).toBe("fine");
      expect(model.requests.length).toBe(name === "tool" ? 3 : 4);
      await named.close();
    },
  );
});

/** The template of Devstral: user and assistant alternate, and calls with their results count as nothing. */
function breaksAlternation(messages: readonly Record<string, unknown>[]): boolean {
  const turns = messages.filter(({ role, tool_calls: calls }) => role === "user" || (role === "assistant" && !calls));
  return turns.some(({ role }, at) => (role === "user") !== (at % 2 === 0));
}
const hasSystem = (messages: readonly Record<string, unknown>[]): boolean =>
  messages.some(({ role }) => role === "system");
const hasNull = (messages: readonly Record<string, unknown>[]): boolean =>
  messages.some(({ content }) => content === null);
const hasLongId = (messages: readonly Record<string, unknown>[]): boolean =>
  messages.some(({ tool_call_id: id }) => typeof id === "string" && id.length !== 9);
const hasNoName = (messages: readonly Record<string, unknown>[]): boolean =>
  messages.some(({ role, name }) => role === "tool" && name === undefined);

test.each([
  [
    "llama.cpp with Devstral",
    500,
    "Error: Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
    breaksAlternation,
  ],
  [
    "LM Studio",
    400,
    "Error rendering prompt with jinja template: conversation roles must alternate",
    breaksAlternation,
  ],
  ["Gemma 2", 400, "System role not supported", hasSystem],
  ["Gemma 2 behind llama.cpp", 500, "Jinja Exception: System role not supported at row 1, column 60", hasSystem],
  [
    "Qwen 3 behind llama.cpp",
    500,
    "Value is not callable: null at row 49, column 79:\n{%- set content = m_content",
    hasNull,
  ],
  ["Ministral", 500, "Only user, assistant and tool roles are supported, got system.", hasSystem],
  ["Mistral behind an alias", 400, "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.", hasLongId],
  ["an old template", 500, "Only user and assistant roles are supported!", hasSystem],
  ["Gemini behind a proxy", 400, "contents[2].parts[0].function_response.name: Name cannot be empty.", hasNoName],
  ["FastAPI", 422, "messages.2.content: Input should be a valid string", hasNull],
  ["a strict gateway", 400, "Invalid type for 'messages[2].content': expected a string, got null", hasNull],
])(
  "a template of %s that refuses the form of a conversation gets the form that it takes",
  async (_, status, words, refuses) => {
    const own = new AIAgent({ ...options, model: "my-model" });
    model.respondWith(({ messages }) => (refuses(messages) ? fail(status, words) : say("fine")));
    const list = callTools(call("search_files", { pattern: "*.md" }));
    model.script(list);
    expect(await own.chat("list")).toBe("fine");
    model.script(list, fail(401, "no"));
    await own.runConversation({ userMessage: "list again" });
    expect(await own.chat("and now?")).toBe("fine");
    const before = model.requests.length;
    expect(await own.chat("and more")).toBe("fine");
    expect(model.requests.length).toBe(before + 1);
    await own.close();
  },
);

test("a refusal of calls in another role than the assistant's leaves the system message", async () => {
  model.respondWith(() => fail(400, "tool_calls are only allowed in messages with the assistant role"));
  await agent.runConversation({ userMessage: "list" });
  expect(model.requests.every(({ body }) => hasSystem(body["messages"] as Record<string, unknown>[]))).toBe(true);
});

test("a call that Groq could not read is asked for again", async () => {
  const refusal = { code: "tool_use_failed", failed_generation: '<function=terminal{"command": "ls"}</function>' };
  model.script(fail(400, "Failed to call a function. Please adjust your prompt.", refusal), say("fine"));
  expect(await agent.chat("list")).toBe("fine");
});

test("an address without the version of the API reaches it", async () => {
  const own = new AIAgent({ ...options, baseUrl: model.baseUrl.replace(/\/v1$/, "") });
  model.respondWith(() =>
    model.requests.at(-1)?.url === "/v1/chat/completions" ? say("fine") : fail(404, "Not Found"),
  );
  expect([await own.chat("one"), await own.chat("two")]).toEqual(["fine", "fine"]);
  expect(model.requests.map(({ url }) => url)).toEqual([
    "/chat/completions",
    "/v1/chat/completions",
    "/v1/chat/completions",
  ]);
  await own.close();
});

test.each([
  [
    "OpenAI",
    "max_tokens is too large: 32000. This model supports at most 4096 completion tokens, whereas you provided 32000.",
  ],
  [
    "Groq",
    "`max_tokens` must be less than or equal to `4096`, the maximum value for `max_tokens` is less than the `context_window`",
  ],
  ["DashScope", "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 4096]"],
  ["DeepSeek", "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]"],
  [
    "Anthropic",
    "max_tokens: 32000 > 4096, which is the maximum allowed number of output tokens for claude-3-opus-20240229",
  ],
  ["Bedrock", "The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower value."],
  ["Zhipu", "max_tokens 参数非法：取值范围[1,4096]"],
])("a limit of the answer that %s refuses is lowered to the named one, and kept", async (_, words) => {
  const kept: unknown[] = [];
  const limited = { ...options, sampling: { maxTokens: 32_000 } };
  const own = new AIAgent({ ...limited, onModelLimit: (__, limit) => void kept.push(limit) });
  model.respondWith((body) => (Number(body["max_tokens"]) > 4_096 ? fail(400, words) : say("fine")));
  expect([await own.chat("one"), await own.chat("two")]).toEqual(["fine", "fine"]);
  expect(model.requests.map(({ body }) => body["max_tokens"])).toEqual([32_000, 4_096, 4_096]);
  expect(kept).toEqual([{ maxOutputTokens: 4_096 }]);
  const next = new AIAgent({ ...limited, modelFacts: () => ({ maxOutputTokens: 4_096 }) });
  expect(await next.chat("three")).toBe("fine");
  expect(model.requests).toHaveLength(4);
  await own.close();
  await next.close();
});

test("a limit of the answer that leaves no room for the question is left to the server", async () => {
  const own = new AIAgent({ ...options, sampling: { maxTokens: 32_000 } });
  const words =
    "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 40960 tokens and your request has 36864 input tokens.";
  model.respondWith((body) => (body["max_tokens"] === undefined ? say("fine") : fail(400, words)));
  expect(await own.chat("hello")).toBe("fine");
  await own.close();
});

/** Refusals of content filters, as their services word them. */
const FILTERS: readonly (readonly [string, number, string | Record<string, unknown>])[] = [
  [
    "Azure",
    400,
    "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
  ],
  ["DashScope", 400, "Input data may contain inappropriate content (data_inspection_failed)"],
  [
    "Zhipu",
    400,
    "系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。",
  ],
  ["DeepSeek", 400, "Content Exists Risk"],
  ["MiniMax", 422, "input new_sensitive (1026)"],
  [
    "Volcengine",
    400,
    "The request failed because the input text may contain sensitive information. SensitiveContentDetected",
  ],
  ["Gemini", 400, "Prompt was blocked due to PROHIBITED_CONTENT"],
  ["Anthropic", 400, "Output blocked by content filtering policy"],
  ["OpenAI", 400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy."],
  [
    "OpenRouter",
    403,
    'openai/gpt requires moderation on OpenAI. Your input was flagged for "violence". No credits were charged.',
  ],
  ["xAI", 403, "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"],
  ["Moonshot", 400, "The request was rejected because it was considered high risk"],
  ["an unknown service", 400, "no"],
];

describe("a content filter", () => {
  const refused = (status: number, words: Parameters<typeof fail>[1]) => {
    const filtered = fail(status, words);
    model.respondWith((body) =>
      JSON.stringify(body.messages.slice(1)).includes("secret word") ? filtered : say("fine"),
    );
  };

  test.each(FILTERS)(
    "of %s ends in one line with /undo, and the next message gets an answer",
    async (_, status, words) => {
      refused(status, String(words));
      const { fault } = await agent.runConversation({ userMessage: "the secret word" });
      expect(fault?.message).toMatch(/(take|Take) .*back with \/undo/);
      expect(fault?.message).not.toContain("key");
      expect(model.requests).toHaveLength(1);
      expect(await agent.chat("another thing")).toBe("fine");
      expect(notices.join("\n")).toContain("without the earlier messages that got no answer");
      const before = model.requests.length;
      expect(await agent.chat("and more")).toBe("fine");
      expect(model.requests.length).toBe(before + 1);
    },
  );

  test.each(FILTERS.slice(0, 4))(
    "of %s that refuses a tool's result leaves the result out, and the turn goes on",
    async (_, status, words) => {
      writeFileSync(join(cwd, "a.txt"), "it holds the secret word");
      refused(status, String(words));
      model.script(callTools(call("read_file", { path: "a.txt" })));
      expect(await agent.chat("read a.txt")).toBe("fine");
      expect(notices.join("\n")).toContain("without the newest tool results");
      const before = model.requests.length;
      expect(await agent.chat("and more")).toBe("fine");
      expect(model.requests.length).toBe(before + 1);
    },
  );

  test.each([
    ["a tool's result", "read a.txt", "The file: secret word", "the server refused the request with it"],
    ["a picture", look("BAD"), "nothing", "An image was here. It was left out"],
    ["a prompt", "the secret word", "nothing", "A message of the user was left out"],
  ])(
    "that refuses %s is in the journal: a session that is opened again does not send it",
    async (_, prompt, text, note) => {
      const path = join(cwd, "one.jsonl");
      const onFailure = (message: string) => expect.unreachable(message);
      const journal = new Journal({ path, sessionId: "one", cwd, now: () => 0, onFailure });
      writeFileSync(join(cwd, "a.txt"), text);
      const first = new AIAgent({ ...options, cwd, journal });
      model.respondWith((body) =>
        /secret word|AAANBAD/.test(JSON.stringify(body)) ? fail(400, "content policy") : say("fine"),
      );
      if (prompt === "read a.txt") model.script(callTools(call("read_file", { path: join(cwd, "a.txt") })));
      writeFileSync(join(cwd, "a.txt"), text);
      await first.runConversation({ userMessage: prompt });
      expect(await first.chat("and now?")).toBe("fine");
      await first.close();
      journal.close();
      const read = await readJournal(path);
      if (!read.ok) expect.unreachable(read.message);
      const sent = JSON.stringify(read.session.conversation.messages);
      expect(sent).not.toMatch(/secret word|AAANBAD/);
      expect(sent).toContain(note);
    },
  );

  test.each(["content_filter", "safety", "content_filter: PROHIBITED_CONTENT", "sensitive"])(
    "that ends an answer before its first word with %s does not end the session",
    async (reason) => {
      const silent = { parts: [], finish: reason };
      model.respondWith((body) => (JSON.stringify(body).includes("secret word") ? silent : say("fine")));
      expect((await agent.runConversation({ userMessage: "the secret word" })).stopReason).toBe("refusal");
      expect(notices.join("\n")).toContain("/undo");
      expect(await agent.chat("another thing")).toBe("fine");
    },
  );

  test("that Anthropic explains leaves the conversation with the refused prompt", async () => {
    const claude = new AIAgent({ ...options, apiMode: "anthropic_messages" });
    model.respondWith((body) =>
      JSON.stringify(body).includes("secret word") ? { parts: [{ type: "refusal", text: "It harms." }] } : say("fine"),
    );
    const { stopReason, finalResponse } = await claude.runConversation({ userMessage: "the secret word" });
    expect([stopReason, finalResponse]).toEqual(["refusal", "It harms."]);
    expect(await claude.chat("another thing")).toBe("fine");
    expect(model.requests.length).toBe(3);
    await claude.close();
  });
});

test.each([
  "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 36278.",
  "The request of 60,000 tokens exceeds the token rate limit of 10,000 tokens per minute for your deployment.",
  "This request would exceed your organization's rate limit of 30,000 input tokens per minute. Your request has 60,211 input tokens.",
  "Requested tokens 60000 exceed the per-minute token limit of 20000 for this workspace",
  "Request body too large for this model.",
])("a limit that the request exceeds by itself shortens the conversation instead of waiting: %s", async (words) => {
  model.script(say("a ".repeat(30_000)), say("b ".repeat(30_000)), fail(429, words), say("The sum."), say("done"));
  for (const question of ["one", "two"]) await agent.chat(question);
  expect(await agent.chat("three")).toBe("done");
});

test("a server that never answered is given up after 20 s", async () => {
  const { baseUrl } = model;
  await model.stop();
  const clock = { ...systemClock, wait: async (ms: number) => void waits.push(ms) };
  const lonely = new AIAgent({ ...options, baseUrl, clock });
  const waits: number[] = [];
  const result = await lonely.runConversation({ userMessage: "hi" });
  expect(result.fault?.kind).toBe("network");
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(20_000);
  expect(waits.length).toBeGreaterThan(2);
  await lonely.close();
});
