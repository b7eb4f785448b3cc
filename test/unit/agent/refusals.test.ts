import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { AIAgent, type AIAgentOptions } from "../../../agent-core/index.ts";
import { systemClock } from "../../../agent-core/platform/clock.ts";
import { defineTool, type Tool } from "../../../agent-core/tools/tool.ts";
import { fail, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";

let model: ModelServer;
let agent: AIAgent;
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
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "hermes-refusals-")));
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

const picture = (data: string) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }) as const;
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
    model.respondWith((body) => (JSON.stringify(body).includes("base64,BAD") ? fail(status, words) : say("I see")));
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
    model.respondWith((body) => (JSON.stringify(body).includes("base64,BAD") ? fail(400, "nope") : say("I see")));
    await agent.runConversation({ userMessage: look("GOOD") });
    await agent.runConversation({ userMessage: look("BAD") });
    expect(bodies().at(-1)).toContain("base64,GOOD");
    expect(bodies().at(-1)).not.toContain("base64,BAD");
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

  test("of a filter that refuses each message names /undo, and the agent stays usable", async () => {
    const filtered = fail(400, "Input data may contain inappropriate content (data_inspection_failed)");
    model.respondWith((body) => (JSON.stringify(body).includes("secret word") ? filtered : say("fine")));
    const result = await agent.runConversation({ userMessage: "the secret word" });
    expect(result.fault?.message).toContain("take the last one back with /undo");
    expect(model.requests).toHaveLength(1);
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
