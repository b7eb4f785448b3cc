import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { AIAgent, type AIAgentOptions } from "../../../agent-core/index.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";
import { defineTool, type Tool } from "../../../agent-core/tools/tool.ts";
import {
  call,
  callTools,
  fail,
  type ModelServer,
  say,
  startModelServer,
} from "../../support/model-server/model-server.ts";

let model: ModelServer;
let agent: AIAgent;
let cwd: string;
let notices: string[];

beforeEach(async () => {
  model = await startModelServer();
  notices = [];
  agent = new AIAgent(agentOptions());
});
afterEach(async () => {
  await agent.close();
  await model.stop();
});

function agentOptions(): AIAgentOptions {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-refusals-")));
  return {
    baseUrl: model.baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    cwd,
    home: join(cwd, ".home"),
    environment: {},
    callbacks: { status: ({ message }) => void notices.push(message) },
  };
}

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
    const own = new AIAgent({ ...agentOptions(), extensions: [{ name: "mcp", tools: () => tools }] });
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
      const named = new AIAgent({ ...agentOptions(), model: name === "tool" ? "devstral-small" : "my-model" });
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
    const claude = new AIAgent({ ...agentOptions(), apiMode: "anthropic_messages" });
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

test("a limit of tokens a minute that the request exceeds by itself shortens the conversation instead of waiting", async () => {
  const words =
    "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 36278.";
  model.script(say("a ".repeat(30_000)), say("b ".repeat(30_000)), fail(429, words), say("The sum."), say("done"));
  for (const question of ["one", "two"]) await agent.chat(question);
  expect(await agent.chat("three")).toBe("done");
});

test("a server that never answered is given up after 20 s", async () => {
  const { baseUrl } = model;
  await model.stop();
  const lonely = new AIAgent({
    baseUrl,
    model: "test-model",
    apiKey: "sk-test-123456",
    environment: {},
    home: mkdtempSync(join(tmpdir(), "hermes-refusals-")),
    clock: { ...systemClock, wait: async (ms) => void waits.push(ms) },
  });
  const waits: number[] = [];
  const result = await lonely.runConversation({ userMessage: "hi" });
  expect(result.fault?.kind).toBe("network");
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(20_000);
  expect(waits.length).toBeGreaterThan(2);
  await lonely.close();
});
